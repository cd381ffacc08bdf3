package import LinuxSupport
import Logging
public import NetworkReachability

extension NetworkReachabilityManager {
    /// Gathers why the target can be reached now, or why it cannot: every step from the name to the verdict, and what would
    /// mend the one that is broken.
    ///
    /// The verdict, ``NetworkEvidence/path``, is what `path` would have said at that moment; the other answers are of the same
    /// moment too, unless the network changes all the time. The kernel is asked on the calling thread, some twenty questions
    /// or, for the network at large, fifty: a fraction of a millisecond. Only where no route is found are tables of routes read,
    /// which takes longer where they are large. No packet is sent but questions for host names: the first waits for the name
    /// service, at most `NetworkReachabilityOptions.nameResolutionWait`; where that has no answer although the kernel has a
    /// path to a name server, each is asked once by DNS what is wrong, and at most a second waited for. It never fails: where
    /// the kernel cannot be asked, the evidence says so. For many targets make a manager for each; they share a monitor.
    public func evidence() -> NetworkEvidence { evidence(over: nil) }

    /// The same for the addresses of one family only. ``path`` is not about this, so it counts as no change of it.
    package func evidence(over family: AddressFamily?) -> NetworkEvidence {
        let evidence = record.monitor.evidence(
            of: record,
            over: family,
            waitingForName: options.nameResolutionWait
        )
        options.logger?.debug("explained", metadata: ["target": "\(record.target)", "path": "\(evidence.path)"])
        return evidence
    }
}
