/// A path that all who have heard of it hold together: there may be many of them, and it is large.
final class SharedPath: Sendable {
    let path: NetworkPath

    init(_ path: NetworkPath) {
        self.path = path
    }
}
