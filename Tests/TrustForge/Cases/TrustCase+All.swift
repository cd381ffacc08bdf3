extension TrustCase {
    /// All of them, by what they are about.
    package static let groups: [(title: String, cases: [TrustCase])] = [
        ("The way to an anchor", chains),
        ("Times", times),
        ("Authorities", authorities),
        ("What keys and certificates are for", usages),
        ("Strength", strengths),
        ("Critical extensions and versions", extensions),
        ("Constraints on names", constraints),
        ("Constraints on names that are written otherwise or cannot be read", constraintForms),
        ("Hosts", hosts),
        ("Pins", pins),
        ("Encodings", encodings),
    ]

    package static let all = groups.flatMap(\.cases)
}
