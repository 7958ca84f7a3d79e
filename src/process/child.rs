//! One run of one program.

use super::ProcessError;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};
use tokio_util::sync::CancellationToken;

/// Variables of our own environment that every program may see: without them most cannot start.
const PASSED_ON: [&str; 3] = ["PATH", "HOME", "SystemRoot"];

/// What a program gave back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its standard output, within the limit.
    pub stdout: Vec<u8>,
    /// Its exit code; `None` where a signal ended it.
    pub status: Option<i32>,
    /// How many bytes it wrote to standard error. The bytes themselves are dropped: they may hold anything.
    pub stderr_bytes: u64,
}

impl Output {
    /// Whether it ended with exit code 0.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.status == Some(0)
    }
}

/// Runs `argv` with `stdin_json` on its standard input and the variables `env` besides PATH and HOME.
///
/// Any exit code is an output. Once out of time or cancelled, the program is killed, and on Unix every program that it
/// started in its group.
///
/// # Errors
/// There is no complete output.
pub async fn run(
    argv: &[String],
    stdin_json: Vec<u8>,
    env: &[(String, String)],
    timeout: Duration,
    max_output_bytes: usize,
    cancel: &CancellationToken,
) -> Result<Output, ProcessError> {
    let mut child = start(argv, env)?;
    let finished = tokio::select! {
        finished = converse(&mut child, stdin_json, max_output_bytes) => finished,
        () = tokio::time::sleep(timeout) => Err(ProcessError::Timeout),
        () = cancel.cancelled() => Err(ProcessError::Cancelled),
    };
    if finished.is_err() {
        kill(&mut child).await;
    }
    finished
}

/// Nothing is left to do where it has ended already.
async fn kill(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = child.id() {
        kill_group(group).await;
    }
    let _ended = child.kill().await;
}

/// Signals the group whose leader has this id. The leader was not waited for, so the id is still its own. Without
/// unsafe code the only way is the system's `kill`, which every shell has built in.
#[cfg(unix)]
async fn kill_group(group: u32) {
    let mut kill = Command::new("/bin/sh");
    kill.args(["-c", "kill -s KILL -- \"-$0\"", &group.to_string()]).env_clear();
    let _killed = kill.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().await;
}

fn start(argv: &[String], env: &[(String, String)]) -> Result<Child, ProcessError> {
    let (program, arguments) = argv.split_first().ok_or(ProcessError::Start)?;
    let inherited = PASSED_ON.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
    let mut command = Command::new(program);
    #[cfg(unix)]
    command.process_group(0);
    command
        .args(arguments)
        .env_clear()
        .envs(inherited)
        .envs(env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|_| ProcessError::Start)
}

async fn converse(child: &mut Child, input: Vec<u8>, limit: usize) -> Result<Output, ProcessError> {
    let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(ProcessError::Pipe);
    };
    let written = async {
        write(stdin, input).await;
        Ok(())
    };
    let ((), stdout, stderr_bytes) = tokio::try_join!(written, read(stdout, limit), count(stderr))?;
    let status = child.wait().await.map_err(|_| ProcessError::Pipe)?;
    Ok(Output { stdout, status: status.code(), stderr_bytes })
}

/// A program may end without reading all of its input, so a broken pipe is no error.
async fn write(mut stdin: ChildStdin, input: Vec<u8>) {
    if stdin.write_all(&input).await.is_ok() {
        let _closed = stdin.shutdown().await;
    }
}

async fn read(pipe: impl AsyncRead + Unpin, limit: usize) -> Result<Vec<u8>, ProcessError> {
    let mut bytes = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    pipe.take(most).read_to_end(&mut bytes).await.map_err(|_| ProcessError::Pipe)?;
    if bytes.len() > limit { Err(ProcessError::TooLarge) } else { Ok(bytes) }
}

async fn count(mut pipe: impl AsyncRead + Unpin) -> Result<u64, ProcessError> {
    tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await.map_err(|_| ProcessError::Pipe)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    async fn shell(script: &str, input: &str, env: &[(String, String)]) -> Result<Output, ProcessError> {
        let argv = ["/bin/sh", "-c", script].map(str::to_owned);
        let limit = Duration::from_secs(5);
        run(&argv, input.as_bytes().to_vec(), env, limit, 100, &CancellationToken::new()).await
    }

    #[tokio::test]
    async fn input_goes_in_and_output_comes_out() {
        let output = shell("cat; echo noise >&2; exit 3", "{\"a\":1}", &[]).await.unwrap();
        assert_eq!(output, Output { stdout: b"{\"a\":1}".to_vec(), status: Some(3), stderr_bytes: 6 });
        assert!(!output.succeeded());
    }

    #[tokio::test]
    async fn only_the_named_environment_is_seen() {
        let named = [("CHURN_TEST".to_owned(), "yes".to_owned())];
        let output =
            shell("env | cut -d= -f1 | sort | grep -v -e PWD -e SHLVL -e '^_$' | tr '\\n' ' '", "", &named).await;
        assert_eq!(String::from_utf8(output.unwrap().stdout).unwrap(), "CHURN_TEST HOME PATH ");
    }

    #[tokio::test]
    async fn arguments_are_never_read_by_a_shell() {
        let argv = ["echo", "$(touch never)", "; rm", "`x`"].map(str::to_owned);
        let output = run(&argv, Vec::new(), &[], Duration::from_secs(5), 100, &CancellationToken::new()).await.unwrap();
        assert_eq!(output.stdout, b"$(touch never) ; rm `x`\n");
    }

    #[tokio::test]
    async fn a_program_that_reads_nothing_is_no_error() {
        let input = "x".repeat(1_000_000);
        assert_eq!(shell("echo done", &input, &[]).await.unwrap().stdout, b"done\n");
    }

    #[tokio::test]
    async fn a_program_that_writes_without_end_is_killed() {
        assert_eq!(shell("exec yes", "", &[]).await, Err(ProcessError::TooLarge));
    }

    #[tokio::test]
    async fn a_program_out_of_time_or_cancelled_is_killed() {
        // It never ends by itself: that there is an outcome at all shows that it was killed.
        let argv = ["tail", "-f", "/dev/null"].map(str::to_owned);
        let cancel = CancellationToken::new();
        let slow = run(&argv, Vec::new(), &[], Duration::from_millis(50), 100, &cancel).await;
        assert_eq!(slow, Err(ProcessError::Timeout));
        cancel.cancel();
        let cancelled = run(&argv, Vec::new(), &[], Duration::from_mins(1), 100, &cancel).await;
        assert_eq!(cancelled, Err(ProcessError::Cancelled));
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn what_the_program_started_is_killed_with_it() {
        let script = "sleep 61 & echo $!; wait";
        let argv = ["/bin/sh", "-c", &format!("{{ {script}; }} > \"$FILE\"")].map(str::to_owned);
        let file = tempfile::NamedTempFile::new().unwrap();
        let env = [("FILE".to_owned(), file.path().to_str().unwrap().to_owned())];
        let cancel = CancellationToken::new();
        // Killed as soon as it has started the other, however long that takes.
        let written = || fs_err::read_to_string(file.path()).unwrap();
        let kill_once_started = async {
            while !written().ends_with('\n') {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            cancel.cancel();
        };
        let (outcome, ()) =
            tokio::join!(run(&argv, Vec::new(), &env, Duration::from_mins(1), 100, &cancel), kill_once_started);
        assert_eq!(outcome, Err(ProcessError::Cancelled));
        let started = written();
        let status = format!("/proc/{}/status", started.trim());
        let gone = || fs_err::read_to_string(&status).map_or(true, |text| text.contains("State:\tZ"));
        for _ in 0..1000 {
            if gone() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("it is still there");
    }

    #[tokio::test]
    async fn what_cannot_be_started_is_an_error() {
        let missing = ["/nonexistent/program".to_owned()];
        for argv in [&missing[..], &[]] {
            let outcome = run(argv, Vec::new(), &[], Duration::from_secs(1), 1, &CancellationToken::new()).await;
            assert_eq!(outcome, Err(ProcessError::Start));
        }
    }
}
