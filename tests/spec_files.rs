//! Generated files stay what the code says, and every example is a spec.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod harness;

use churngate::spec;
use harness::schema::conform;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Compares a committed file with what it should be; writes it anew where `UPDATE_GENERATED` is set.
fn assert_generated(path: &str, expected: &str) {
    let file = root().join(path);
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        fs::write(&file, expected).unwrap();
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert!(found == expected, "{path} is not current; run the test again with UPDATE_GENERATED=1");
}

#[test]
fn the_committed_schema_is_the_one_of_the_code() {
    assert_generated("schema/churngate.schema.json", &spec::json_schema());
}

#[test]
fn the_documented_keys_are_those_of_the_code() {
    let (begin, end) = ("<!-- keys: begin -->\n", "<!-- keys: end -->");
    let text = fs::read_to_string(root().join("docs/spec.md")).unwrap();
    let (before, rest) = text.split_once(begin).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    assert_generated("docs/spec.md", &format!("{before}{begin}{}{end}{after}", spec::reference()));
}

#[test]
fn the_documented_presets_are_those_of_the_code() {
    let (begin, end) = ("<!-- presets: begin -->\n", "<!-- presets: end -->");
    let text = fs::read_to_string(root().join("docs/presets.md")).unwrap();
    let (before, rest) = text.split_once(begin).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    assert_generated("docs/presets.md", &format!("{before}{begin}{}{end}{after}", spec::preset_reference()));
}

/// Presets that tests run against a server, by the file that does.
const SERVERS: [(&str, &str, &str); 2] = [
    ("chroma", "chroma.rs", "a real server, and its own OpenAPI description"),
    ("groonga", "groonga.rs", "a real server"),
];

fn json(path: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(root().join(path)).unwrap()).unwrap()
}

/// The package with the description that `tests/described.rs` holds a preset against.
fn described(preset: &str) -> Option<String> {
    let held = json("tests/descriptions/presets.json");
    let name = held[preset]["described"].as_str()?;
    let source = &json("tests/descriptions/sources.json")[name];
    let (package, version) = (source["pypi"].as_str().or(source["npm"].as_str())?, source["version"].as_str()?);
    let pinned = fs::read_to_string(root().join("tests/requirements.txt")).unwrap();
    assert!(
        source["installed"] != true || pinned.contains(&format!("\n{package}=={version}\n")),
        "{package} {version}"
    );
    let whose = if held[preset]["own"].is_array() || preset == "openai-rag" {
        "OpenAI's description as a third party has it,"
    } else if package.ends_with("-rest-cli") {
        "the description as a third party has it,"
    } else {
        "the vendor's own description"
    };
    Some(format!("{whose} in `{package} {version}`"))
}

#[test]
fn the_page_says_what_each_preset_is_held_against() {
    let recordings = json("tests/sdk/presets/recordings.json");
    let held = |name: &str| {
        if let Some((_, file, held)) = SERVERS.iter().find(|(preset, ..)| *preset == name) {
            let test = fs::read_to_string(root().join("tests/engines").join(file)).unwrap();
            assert!(test.contains(&format!("\"preset\": \"{name}\"")), "{name}");
            return (*held).to_owned();
        }
        let client = recordings[name]["client"].as_str();
        let client = client.map(|client| format!("the types and requests of `{client}`"));
        let held: Vec<String> = described(name).into_iter().chain(client).collect();
        if held.is_empty() { "nothing of the vendor's".to_owned() } else { held.join("; ") }
    };
    let names = spec::preset_names().chain(spec::answer_preset_names());
    let rows: Vec<String> = names.map(|name| format!("| `{name}` | {} |\n", held(name))).collect();
    let rows = rows.concat();
    let (begin, end) = ("<!-- held: begin -->\n", "<!-- held: end -->");
    let text = fs::read_to_string(root().join("docs/presets.md")).unwrap();
    let (before, rest) = text.split_once(begin).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    assert_generated(
        "docs/presets.md",
        &format!("{before}{begin}| preset | held against |\n|---|---|\n{rows}{end}{after}"),
    );
}

#[test]
fn replies_that_types_were_held_against_have_not_changed_since() {
    use sha2::{Digest as _, Sha256};
    use std::fmt::Write as _;
    for (name, digest) in json("tests/sdk/presets/held.json").as_object().unwrap() {
        let fixture = fs::read(root().join(format!("tests/fixtures/presets/{name}.json"))).unwrap();
        let mut found = String::new();
        Sha256::digest(&fixture).iter().for_each(|byte| write!(found, "{byte:02x}").unwrap());
        assert_eq!(*digest, found, "{name}.json has changed: run scripts/record-preset-requests");
    }
}

#[test]
fn the_comparisons_by_hand_are_of_presets_that_there_are() {
    let page = fs::read_to_string(root().join("docs/presets.md")).unwrap();
    let (_, table) = page.split_once("| preset | compared with | in |\n|---|---|---|\n").unwrap();
    let names: Vec<&str> = spec::preset_names().chain(spec::answer_preset_names()).collect();
    for row in table.lines().take_while(|row| row.starts_with('|')) {
        let first = row.trim_start_matches("| `").split('`').next().unwrap();
        let meant = |name: &&str| match first.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => *name == first,
        };
        assert!(names.iter().any(meant), "{row}");
    }
}

#[test]
fn every_preset_file_is_in_the_list() {
    let files = fs::read_dir(root().join("presets")).unwrap();
    let mut names: Vec<String> =
        files.map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    let mut known: Vec<&str> = spec::preset_names().chain(spec::answer_preset_names()).collect();
    known.sort_unstable();
    assert_eq!(names, known);
}

#[test]
fn the_specs_and_the_preset_of_the_page_on_presets_are_such() {
    let text = fs::read_to_string(root().join("docs/presets.md")).unwrap();
    let mut blocks = text.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let (first, own) = (blocks.next().unwrap(), blocks.next().unwrap());
    let whole = |part: &str| {
        let questions = "version: 1\nname: n\nquestions: { file: q.jsonl }";
        format!("{questions}\n{part}generate: {{ reader: {{}} }}\njudge: {{ embedded: {{}} }}\n")
    };
    spec::parse(&whole(first), "docs/presets.md").unwrap_or_else(|errors| panic!("{errors}"));
    let named =
        first.replace("preset: elasticsearch", "preset: presets/ours.yaml").replace("{ text: body }", "{ text: a }");
    let preset = spec::PresetFile { name: "presets/ours.yaml", text: own };
    spec::parse_with(&whole(&named), "docs/presets.md", Some(preset)).unwrap_or_else(|errors| panic!("{errors}"));
}

#[test]
fn the_first_spec_of_the_documentation_is_one() {
    let text = fs::read_to_string(root().join("docs/spec.md")).unwrap();
    let yaml = text.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let spec = spec::parse(yaml, "docs/spec.md").unwrap();
    assert_eq!(spec.secret_names(), ["OPENAI_API_KEY"]);
}

#[test]
fn every_server_of_the_page_about_models_is_one() {
    let text = fs::read_to_string(root().join("docs/models.md")).unwrap();
    let blocks: Vec<&str> = text.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks.len(), 6);
    for block in blocks {
        let indented = format!("  {}\n", block.trim_end().replace('\n', "\n  "));
        let both = if block.starts_with("generate:") {
            block.to_owned()
        } else {
            format!("generate:\n{indented}judge:\n{indented}")
        };
        let spec = format!(
            "version: 1\nname: x\nquestions: {{ file: q.jsonl }}\nsnapshots: {{ old: {{ path: a }}, new: {{ path: b }} }}\n\
             retrieve: {{ bm25: {{}} }}\n{both}"
        );
        spec::parse(&spec, "docs/models.md").unwrap_or_else(|errors| panic!("{errors}"));
    }
}

fn yaml_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            yaml_files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "yaml") {
            found.push(path);
        }
    }
}

#[test]
fn every_example_is_a_spec_and_fits_the_schema() {
    let mut files = Vec::new();
    yaml_files(&root().join("examples"), &mut files);
    let schema: Value = serde_json::from_str(&spec::json_schema()).unwrap();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let spec = spec::parse(&text, &file.display().to_string()).unwrap_or_else(|errors| panic!("{errors}"));
        let mut faults = Vec::new();
        conform(&spec.canonical(), &schema, "", &mut faults);
        assert_eq!(faults, Vec::<String>::new(), "{}", file.display());
    }
}

#[test]
fn what_does_not_fit_the_schema_is_noticed() {
    let schema: Value = serde_json::from_str(&spec::json_schema()).unwrap();
    let text = fs::read_to_string(root().join("docs/spec.md")).unwrap();
    let yaml = text.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let good = spec::parse(yaml, "docs/spec.md").unwrap().canonical();
    let faults = |value: &Value| {
        let mut faults = Vec::new();
        conform(value, &schema, "", &mut faults);
        faults
    };
    assert_eq!(faults(&good), Vec::<String>::new());
    let mut bad = good.clone();
    bad["generate"]["repeats"] = 1.into();
    bad["retrieve"]["top_K"] = 8.into();
    bad["gate"]["inconclusive"] = "maybe".into();
    bad["judge"]["embedded"] = serde_json::json!({});
    bad.as_object_mut().unwrap().remove("name");
    assert_eq!(faults(&bad).len(), 5, "{:?}", faults(&bad));
}
