extension AlamofireRow {
    /// All of them, by whose they are.
    static let groups: [(title: String, rows: [AlamofireRow])] = [
        ("Chains and hosts", chains),
        ("Alamofire 4, policies", alamofire4),
        ("Alamofire 5, evaluators", alamofire5),
        ("Managers", managers),
        ("AFNetworking", afNetworking),
    ]

    static let all = groups.flatMap(\.rows)
}
