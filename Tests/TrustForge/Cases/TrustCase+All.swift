extension TrustCase {
    /// All cases, grouped by subject.
    package static let groups: [(title: String, cases: [TrustCase])] = [
        ("Paths to an anchor", chains),
        ("Times", times),
        ("Authorities", authorities),
        ("Key usage", usages),
        ("Strength", strengths),
        ("Critical extensions and versions", extensions),
        ("Constraints on names", constraints),
        ("Constraints on names in other encodings, and unreadable ones", constraintForms),
        ("Hosts", hosts),
        ("Pins", pins),
        ("Encodings", encodings),
    ]

    package static let all = groups.flatMap(\.cases)
}
