import LinuxSupport
import Netlink
import NetworkReachability

extension CheckSite {
    /// The kernel's paths to many addresses, in their order, for which it is asked together. Asks on the calling thread; sends nothing.
    ///
    /// - Returns: nil for an address that cannot be asked about this way, and for all where the kernel does not say.
    func paths(to addresses: [IPAddress]) -> [NetworkPath?] {
        let options = options.pathOptions(over: nil)
        let subjects = addresses.map { address in
            (try? Target(address: address, options: options)).map { EvaluationSubject(.any([address]), $0.constraints) }
        }
        var paths = [NetworkPath?](repeating: nil, count: subjects.count)
        do throws(NetlinkError) {
            try monitor.answering { judge throws(MissingAnswers) in
                try MissingAnswers.forEach(subjects.indices) { index throws(MissingAnswers) in
                    guard paths[index] == nil, let subject = subjects[index] else { return }
                    paths[index] = try judge.evaluate(subject).path
                    // As for everybody who asks for the first time.
                    paths[index]?.generation = 1
                }
            }
        } catch {
            return addresses.map { _ in nil }
        }
        return paths
    }
    /// What has become of the paths to targets. Of those that packets left by in the same way one is asked about; where that is not what it
    /// was, all are.
    ///
    /// - Returns: in their order; nil where the kernel does not say.
    func pathsNow(_ paths: [NetworkPath]) -> [NetworkPath?] {
        var examples: [NetworkPath] = []
        for path in paths where !examples.contains(where: { path.leads(as: $0) }) { examples.append(path) }
        let now = self.paths(to: examples.compactMap(\.destination))
        let isSame = now.count == examples.count && zip(now, examples).allSatisfy { $0?.leads(as: $1) ?? false }
        if isSame { return paths }
        return paths.map { path in path.destination.flatMap { self.paths(to: [$0])[0] } }
    }
}
