/// The version of the command, of its manual pages and of its package: nothing else says it.
package enum CommandVersion {
    package static let text = "reachability 0.1.0"
}
