/// The version of the command, of its manual pages and of its package: nothing else says it.
enum CommandVersion {
    static let text = "reachability 0.1.0"
}
