//! `sxc explain`: the page of a diagnostic's code.

use serde_json::json;

use super::args::Explain;
use super::{Exit, Failure, Terminal};
use crate::diag::{Code, suggest};

pub(super) fn run(args: &Explain, terminal: &Terminal) -> Result<Exit, Failure> {
    let Some(asked) = &args.code else {
        return list(args.json, terminal);
    };
    let names = || Code::ALL.iter().map(|code| code.as_str());
    let Some(code) = Code::ALL.iter().find(|code| code.as_str().eq_ignore_ascii_case(asked)) else {
        let failure = Failure::new(Exit::Usage, format!("there is no code `{asked}`"));
        return Err(match suggest::nearest(asked, names()) {
            Some(near) => failure.help(format!("did you mean `{near}`? `sxc explain` lists all codes")),
            None => failure.help("`sxc explain` lists all codes"),
        });
    };
    let page = code.page();
    if args.json {
        let document = json!({ "code": code.as_str(), "summary": code.summary(), "page": page });
        terminal.result(&format!("{document}\n"))?;
    } else {
        terminal.result(page)?;
    }
    Ok(Exit::Done)
}

fn list(json: bool, terminal: &Terminal) -> Result<Exit, Failure> {
    if json {
        let codes: Vec<_> = Code::ALL
            .iter()
            .map(|code| json!({ "code": code.as_str(), "summary": code.summary() }))
            .collect();
        terminal.result(&format!("{}\n", json!(codes)))?;
    } else {
        let lines = Code::ALL.iter().map(|code| format!("{:<12} {}\n", code.as_str(), code.summary()));
        terminal.result(&lines.collect::<String>())?;
    }
    Ok(Exit::Done)
}
