import CommandLineSupport
import LinuxSupport
import NetworkReachability

/// `watch --all-netns`: watches the targets in the current network namespace, and in each named namespace while it exists.
struct NamespaceWatcher: Sendable {
    private let options: TargetOptions
    private let output: WatchOutput
    private let policy: SettlePolicy

    /// Checks the permission to enter namespaces, even if there are none.
    init(_ options: TargetOptions, output: WatchOutput, policy: SettlePolicy) throws {
        self.options = options
        self.output = output
        self.policy = policy
        // The current namespace is entered like any other.
        let paths: [NetworkNamespace] = [.path("/proc/self/ns/net")] + NetworkNamespaces().current.map(\.namespace)
        for path in paths {
            do throws(NetworkReachabilityError) {
                _ = try options.makeTargets(in: path)
            } catch {
                // A missing namespace may have been deleted meanwhile.
                if case .capabilityRequired = error { throw error }
            }
        }
    }

    /// Reports the files in `/run/netns` that are not network namespaces.
    static func reportOthers() {
        for name in NetworkNamespaces().others {
            StandardError.report("/run/netns/\(name.printable) is not a network namespace")
        }
    }

    /// Watches until the task is cancelled.
    ///
    /// - Parameter current: The targets in the current namespace.
    func run(_ current: [TargetOptions.Target]) async {
        Self.reportOthers()
        let here = Task { await watch(current, in: nil) }
        var there: [String: Task<Void, Never>] = [:]
        for await entries in NetworkNamespaces(logger: options.logger).changes {
            let names = Set(entries.map(\.name))
            for (name, task) in there where !names.contains(name) {
                task.cancel()
                there[name] = nil
            }
            for entry in entries where there[entry.name] == nil {
                there[entry.name] = Task { await watch(entry) }
            }
        }
        for task in [here] + there.values { task.cancel() }
    }

    private func watch(_ entry: NetworkNamespaces.Entry) async {
        while !Task.isCancelled {
            do throws(NetworkReachabilityError) {
                return await watch(try options.makeTargets(in: entry.namespace), in: entry.name)
            } catch {
                if case .capabilityRequired = error {
                    return StandardError.report("\(error)")
                }
            }
            // The namespace was deleted, and may have been created again before the change was noticed.
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    private func watch(_ targets: [TargetOptions.Target], in namespace: String?) async {
        await withTaskGroup { group in
            for target in targets {
                group.addTask { await watch(target, in: namespace) }
            }
        }
    }

    /// Prints the changes of a target until the task is cancelled, and then a last line for a deleted namespace.
    private func watch(_ target: TargetOptions.Target, in namespace: String?) async {
        // A slow reader gets the latest path, and not the paths in between.
        let (stream, continuation) = AsyncStream.makeStream(of: NetworkPath.self, bufferingPolicy: .bufferingNewest(1))
        let token = target.manager.addPathListener(for: output.interest, settle: policy, onQueue: nil) { path in
            continuation.yield(path)
        }
        var last = NetworkPath()
        for await path in stream {
            output.write(PathLine(target: target.name, namespace: namespace, path: path))
            last = path
        }
        token.cancel()
        // The monitor may have reported the deletion already.
        if namespace == nil || last.reason == .namespaceGone { return }
        var gone = NetworkPath(reason: .namespaceGone)
        gone.generation = last.generation + 1
        output.write(PathLine(target: target.name, namespace: namespace, path: gone))
    }
}
