import Dispatch
import Glibc
import NetworkLab
import NetworkReachabilityTesting

@testable import NetworkReachability

/// A directory of our own for names of namespaces, and what is told of it.
final class NamespaceDirectory: Sendable {
    private let parent: String
    var path: String { "\(parent)/netns" }

    /// - Parameter exists: whether the directory is there from the start; its parent is.
    init(exists: Bool = true) throws {
        var template = Array("/tmp/namespaces-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw LabError.system("mkdtemp") }
        parent = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        if exists { make() }
    }

    deinit {
        remove()
        rmdir(parent)
    }

    func make() { mkdir(path, 0o755) }
    func remove() { rmdir(path) }

    func touch(_ name: String) { close(open("\(path)/\(name)", O_CREAT | O_CLOEXEC, 0o444)) }
    func unlink(_ name: String) { _ = Glibc.unlink("\(path)/\(name)") }

    /// A name for a namespace that is made for it.
    func add(_ name: String) async throws -> NamespaceName {
        try await LabThread.detached { try NamespaceName(name, in: self.path, for: LabNamespace()) }
    }
}

/// Hears the names of a set of namespaces, each time it is told.
final class NamespaceNames: Sendable {
    private let recorder = RecordingListener<[String]>()
    private let token: NetworkReachabilityToken

    init(_ namespaces: NetworkNamespaces) {
        token = namespaces.addListener(onQueue: DispatchQueue(label: "names")) { [recorder] entries in
            recorder.record(entries.map(\.name))
        }
    }

    var values: [[String]] { recorder.values }

    /// Waits until these names are the last that were told, and says whether it came to that.
    func areLast(_ names: [String]) async throws -> Bool {
        try await eventually(every: .milliseconds(2)) { recorder.last == names }
    }

    func cancel() { token.cancel() }
}
