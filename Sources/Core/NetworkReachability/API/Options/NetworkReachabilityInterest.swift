/// What a listener counts as a change: a part of the path, or several, as in `[.status, .reason]`.
public struct NetworkReachabilityInterest: OptionSet, Hashable, Sendable {
    /// One bit for each part.
    public let rawValue: UInt8

    /// Takes any set of bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The status, ``NetworkPath/status``.
    public static let status = NetworkReachabilityInterest(rawValue: 1 << 0)

    /// The flags, ``NetworkPath/flags``, which include the status.
    public static let flags = NetworkReachabilityInterest(rawValue: 1 << 1)

    /// The status, and how packets leave: interface, gateway and source. Not the reason.
    public static let egress = NetworkReachabilityInterest(rawValue: 1 << 2)

    /// Why there is no path, ``NetworkPath/reason``: one that takes the place of another is a change although the status stays.
    public static let reason = NetworkReachabilityInterest(rawValue: 1 << 3)

    /// Anything of the path: flags, reason, interface, gateway, source and the rest.
    public static let path = NetworkReachabilityInterest(rawValue: 1 << 4)

    /// A carrier that was lost and is back before the kernel reported the loss: the path is the same as before.
    package static let carrier = NetworkReachabilityInterest(rawValue: 1 << 7)
}

extension NetworkReachabilityInterest {
    /// Whether a listener with this interest has to hear of `path` when `last` is what it was notified of last.
    func isChange(_ path: NetworkPath, after last: NetworkPath) -> Bool {
        contains(.status) && path.status != last.status
            || contains(.flags) && path.flags != last.flags
            || contains(.egress) && leaves(path, otherwiseThan: last)
            || contains(.reason) && path.reason != last.reason
            || contains(.path) && !path.isSame(as: last)
            || contains(.carrier) && path.carrierLosses(since: last) > 0
    }

    /// Whether it is about the status and its flags alone: nothing that says why the status is unknown.
    var isOfStatus: Bool { isSubset(of: [.status, .flags]) }

    private func leaves(_ path: NetworkPath, otherwiseThan last: NetworkPath) -> Bool {
        path.status != last.status || path.interface != last.interface || path.gateway != last.gateway
            || path.source != last.source
    }
}

/// Whether a subscription is notified of a change at once, or only when it has lasted. Each subscription has its own.
///
/// No policy delays the first state, nor what follows ``NetworkReachabilityStatus/unknown``, for that is the first thing
/// known. Time counts while the machine is awake (CLOCK_MONOTONIC). When the time is up the kernel is asked once more, so
/// what is notified is so at that moment. Only the latest state is kept meanwhile, and no timer runs while nothing is waited for.
///
/// A target that flaps faster than a policy waits never settles. That is not hidden: ``NetworkPath/isFlapping`` is notified at
/// once under every policy, to those interested in the whole path (``NetworkReachabilityInterest/path``).
public enum SettlePolicy: Hashable, Sendable {
    /// Every change, at once.
    case immediate

    /// A change that has held for so long. What is a change is up to the subscription's ``NetworkReachabilityInterest``:
    /// another change begins the wait anew, and a return to what was notified last is no change. Zero and less is
    /// ``immediate``.
    case settled(for: Duration)
}

extension SettlePolicy {
    /// How long a change has to last; nil for not at all.
    var duration: Duration? {
        if case .settled(let duration) = self, duration > .zero { duration } else { nil }
    }
}
