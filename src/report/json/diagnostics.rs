//! The member `diagnostics` of format 1.0. It stands there only where the spec asks for a diagnosis, and so does each of its own
//! members.

use super::image::image;
use crate::analyze::agreement::{JudgeAgreement, Table};
use crate::analyze::{
    Churn, Diagnostics, LabelFlips, PairedChurn, Replication, Sampled, SecondJudge, SecondOpinion, SelfConsistency,
};
use crate::model::Fraction;

image! {
    DiagnosticsImage of Diagnostics {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        self_consistency: Option<SelfConsistency>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        second_judge: Option<SecondJudge>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replication: Option<Replication>,
    }
}

image! {
    SampledImage of Sampled {
        questions: u64,
        packets: u64,
        unjudged: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    }
}

image! {
    SelfConsistencyImage of SelfConsistency {
        sample: Sampled,
        labels: Option<LabelFlips>,
    }
}

image! {
    LabelFlipsImage of LabelFlips {
        pairs: u64,
        flipped: u64,
        interval: Option<(f64, f64)>,
        questions: u64,
        questions_flipped: u64,
    }
}

image! {
    SecondJudgeImage of SecondJudge {
        judge: String,
        served_models: Vec<String>,
        sample: Sampled,
        labels: Option<SecondOpinion>,
    }
}

image! {
    SecondOpinionImage of SecondOpinion {
        agreement: JudgeAgreement,
        churn: PairedChurn,
    }
}

image! {
    ReplicationImage of Replication {
        generator: String,
        served_models: Vec<String>,
        sample: Sampled,
        churn: Option<PairedChurn>,
        exact: Option<PairedChurn>,
    }
}

image! {
    JudgeAgreementImage of JudgeAgreement {
        table: Table,
        agreement: Option<f64>,
        kappa: Option<f64>,
        same_partition: u64,
        questions: u64,
        agreement_interval: Option<(f64, f64)>,
        kappa_interval: Option<(f64, f64)>,
    }
}

image! {
    TableImage of Table {
        both_same: u64,
        only_first: u64,
        only_second: u64,
        both_different: u64,
    }
}

image! {
    PairedChurnImage of PairedChurn {
        questions: u64,
        first: Churn,
        second: Churn,
        difference: Churn,
    }
}

image! {
    ChurnImage of Churn {
        mean: Fraction,
        interval: (Fraction, Fraction),
    }
}
