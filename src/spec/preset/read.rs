//! A preset file, read.

use crate::spec::node::Node;
use crate::spec::problem::Problem;
use crate::spec::reader::Reader;
use crate::spec::surface::PRESET;
use crate::spec::{check, yaml};

/// A preset file as it was found: its name in the spec and its text.
#[derive(Clone, Copy, Debug)]
pub struct PresetFile<'a> {
    /// As `retrieve.preset` names it.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// The presets that a spec may use, and what is wrong with the one it does.
#[derive(Debug, Default)]
pub struct Presets<'a> {
    file: Option<PresetFile<'a>>,
    faulty: Option<(String, String, Vec<Problem>)>,
}

/// The section of a spec that a preset belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// A search engine, of `retrieve`.
    Retrieve,
    /// A deployed system, of `answer`.
    Answer,
}

impl Of {
    /// The section's name.
    #[must_use]
    pub const fn section(self) -> &'static str {
        match self {
            Self::Retrieve => "retrieve",
            Self::Answer => "answer",
        }
    }
}

/// A preset: what is open in it, and the section it is made of.
#[derive(Clone, Debug)]
pub struct Preset {
    /// Where it belongs.
    pub of: Of,
    /// The server, where it is the same for everybody.
    pub base_url: Option<String>,
    /// What a spec may say, by name, with what holds otherwise.
    pub open: Vec<(String, Option<Node>)>,
    /// Headers that carry the key, each with what stands before it.
    pub key: Vec<(String, String)>,
    /// The section `http`, with placeholders of its own.
    pub http: Node,
}

/// What a preset says of itself, for people.
#[derive(Clone, Debug)]
pub struct Said {
    /// One sentence about it.
    pub about: String,
    /// The description that it follows.
    pub source: Option<String>,
    /// What in it is known to no description.
    pub unchecked: Vec<String>,
    /// Headers that carry the key.
    pub key: Vec<String>,
    /// What a spec may say: name, default as JSON, one sentence.
    pub open: Vec<(String, Option<String>, String)>,
}

impl<'a> Presets<'a> {
    /// The built-in presets, and this file where there is one.
    #[must_use]
    pub fn new(file: Option<PresetFile<'a>>) -> Self {
        Self { file, faulty: None }
    }

    /// The text of the file of this name.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<&'a str> {
        self.file.filter(|file| file.name == name).map(|file| file.text)
    }

    /// Where problems within a preset are kept, apart from those of the spec.
    pub fn faults_of(&mut self, name: &str, text: &str) -> &mut Vec<Problem> {
        &mut self.faulty.get_or_insert_with(|| (name.to_owned(), text.to_owned(), Vec::new())).2
    }

    /// The problems within a preset, with its name and text.
    #[must_use]
    pub fn faults(self) -> Option<(String, String, Vec<Problem>)> {
        self.faulty.filter(|(_, _, problems)| !problems.is_empty())
    }

    /// Reads a preset. `None` where something is wrong with it, which is then among the faults.
    pub fn read(&mut self, name: &str, text: &str) -> Option<Preset> {
        let faults = self.faults_of(name, text);
        let root = yaml::read(text, yaml::PRESET, faults)?;
        check::check_at(&root, &PRESET, "the preset", faults);
        if !faults.is_empty() {
            return None;
        }
        let reader = Reader::new(&root, &PRESET);
        let open = reader.node("with").map_or(&[][..], Node::entries).iter();
        Some(Preset {
            of: if reader.word("of")? == "answer" { Of::Answer } else { Of::Retrieve },
            base_url: reader.text("base_url"),
            open: open
                .map(|entry| (entry.key.clone(), entry.value.get("default").map(|it| it.value.clone())))
                .collect(),
            key: reader.text_map("key")?.into_iter().collect(),
            http: reader.node("http")?.clone(),
        })
    }

    /// What a preset says of itself. `None` where something is wrong with it.
    pub fn said(&mut self, name: &str, text: &str) -> Option<Said> {
        let preset = self.read(name, text)?;
        let root = yaml::read(text, yaml::PRESET, &mut Vec::new())?;
        let reader = Reader::new(&root, &PRESET);
        let about = |name: &str| Some(reader.node("with")?.get(name)?.value.get("about")?.value.scalar()?.text.clone());
        let default = |node: &Node| crate::spec::reader::json(node).map(|value| value.to_string());
        let open = preset.open.iter();
        Some(Said {
            about: reader.text("about")?,
            source: reader.text("source"),
            unchecked: reader.texts("unchecked")?,
            key: preset.key.iter().map(|(header, _)| header.clone()).collect(),
            open: open
                .map(|(name, value)| (name.clone(), value.as_ref().and_then(default), about(name).unwrap_or_default()))
                .collect(),
        })
    }
}
