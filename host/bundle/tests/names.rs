//! Names of fields: what patterns stand for, and which are refused.
use forebay_bundle::Policy;
use forebay_decide::Name;
use forebay_spec::Field;
use std::path::Path;

fn field(field: &str, name: &str) -> String {
    format!("[[field]]\nfield = \"{field}\"\nname = '{name}'\n")
}

fn names(text: &str) -> Vec<(Field, String)> {
    let policy = Policy::parse("p.toml", text, Path::new(".")).expect(text);
    policy.bundle().names.iter().map(|Name { text, field }| (*field, text.clone())).collect()
}

fn error(text: &str) -> String {
    Policy::parse("p.toml", text, Path::new(".")).map(drop).expect_err(text).to_string()
}

#[test]
fn patterns_are_counted_out_in_the_order_of_the_policy() {
    let text = field("top_k", "top[_-]k") + &field("max_tokens", "max_(completion_|output_)?tokens");
    let found = names(&text);
    let expected = ["top-k", "top_k", "max_completion_tokens", "max_output_tokens", "max_tokens"];
    assert_eq!(found.iter().map(|(_, n)| n.as_str()).collect::<Vec<_>>(), expected.to_vec());
    assert!(found[..2].iter().all(|(field, _)| *field == Field::TopK));
}

#[test]
fn a_field_may_have_several_patterns_and_share_its_own_names() {
    let text = field("max_tokens", "max_tokens") + &field("max_tokens", "max_(new_)?tokens");
    let expected = [(Field::MaxTokens, "max_tokens".to_owned()), (Field::MaxTokens, "max_new_tokens".to_owned())];
    assert_eq!(names(&text), expected);
}

#[test]
fn a_field_that_is_left_out_is_not_looked_for() {
    assert_eq!(names(&field("max_tokens", "max_tokens")), [(Field::MaxTokens, "max_tokens".to_owned())]);
    let said = error(&field("model", "model"));
    let expected = "p.toml:1:1: no [[field]] gives max_tokens a name, and without it no request can be decided; \
                    add one with field = \"max_tokens\" and name = \"max_tokens\"";
    assert_eq!(said, expected);
}

#[test]
fn the_kind_is_that_of_the_field() {
    let kinds = [
        ("max_tokens", "unsigned"),
        ("top_k", "unsigned"),
        ("model", "string"),
        ("stream", "bool"),
        ("temperature", "decimal"),
    ];
    for (name, kind) in kinds {
        let text = field("max_tokens", "max_tokens") + &field(name, name) + &format!("kind = \"{kind}\"\n");
        assert!(Policy::parse("p.toml", &text, Path::new(".")).is_ok(), "{text}");
    }
    let text = field("max_tokens", "max_tokens") + "kind = \"decimal\"\n";
    assert_eq!(error(&text), "p.toml:4:8: max_tokens is of kind unsigned, not \"decimal\"; leave the kind out");
}

#[test]
fn what_cannot_be_names_is_refused() {
    let cases = [
        (
            "max_tokens+",
            "p.toml:3:8: the pattern 'max_tokens+' stands for infinitely many names, the limit is 8; bound",
        ),
        ("max_.{5}", "stands for more than 1000 names, the limit is 8; narrow it"),
        ("a{300}", "stands for a name of more than 256 bytes, the limit is 23; shorten it"),
        ("max_tokens_[a-i]", "the pattern 'max_tokens_[a-i]' stands for 9 names, the limit is 8; narrow it"),
        ("tok", "stands for the name \"tok\" of 3 bytes, the limits are 5 to 23; exclude it"),
        ("(max_tokens)?", "stands for the name \"\" of 0 bytes, the limits are 5 to 23; exclude it"),
        ("maximal_tokens_of_answer", "stands for the name \"maximal_tokens_of_answer\" of 24 bytes"),
        ("[mM]ax_tokens", "stands for the name \"Max_tokens\" with the letter \"M\", names are of a to z, _, - and .;"),
        ("max.tokens", "stands for more than 8 names"),
        ("max_tokens2", "with the letter \"2\""),
        ("max_\\x00tokens", "with the letter \"\\x00\""),
        ("max_(tokens", "p.toml:3:13: pattern 'max_(tokens': this is no pattern: unclosed group; correct it"),
        ("^max_tokens$", "p.toml:3:9: pattern '^max_tokens$': ^, $, \\b and other look-around say nothing here"),
        ("max_[^\\x00-\\xff]", "matches no text at all; correct or remove it"),
    ];
    for (pattern, expected) in cases {
        let said = error(&field("max_tokens", pattern));
        let expected = expected.replace("more than 8 names", "255 names");
        assert!(said.contains(&expected), "{pattern}\nsaid     {said}\nexpected {expected}");
    }
    let unknown = error(&field("max_token", "max_tokens"));
    assert!(unknown.contains("there is no field \"max_token\"; give one of max_tokens, model, stream, "), "{unknown}");
}

#[test]
fn all_names_together_have_a_limit() {
    let text = field("max_tokens", "max_tokens_[a-f]") + &field("model", "model[a-c]");
    assert!(error(&text).ends_with("with the pattern 'model[a-c]' there are 9 names, the limit is 8; narrow it"));
    assert_eq!(names(&(field("max_tokens", "max_tokens_[a-f]") + &field("model", "model[ab]"))).len(), 8);
}

#[test]
fn one_name_for_two_fields_is_refused() {
    let text = field("max_tokens", "max_(tok|top)ens") + &field("top_k", "top_k|max_topens");
    let expected = "p.toml:6:8: the pattern 'top_k|max_topens' for top_k and 'max_(tok|top)ens' for max_tokens \
                    both stand for the name \"max_topens\"; leave it to one of them";
    assert_eq!(error(&text), expected);
}

#[test]
fn a_place_inside_a_pattern_is_given_only_where_the_file_has_it_letter_by_letter() {
    let text = "[[field]]\nfield = \"max_tokens\"\nname = \"max\\u005f(tokens\"\n";
    assert!(error(text).starts_with("p.toml:3:8: pattern 'max_(tokens': "), "{}", error(text));
    let text = "[[field]]\nfield = \"max_tokens\"\nname = \"max_(tokens\"\n";
    assert!(error(text).starts_with("p.toml:3:13: "), "{}", error(text));
}
