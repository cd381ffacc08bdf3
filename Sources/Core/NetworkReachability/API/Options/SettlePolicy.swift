/// Whether a subscription is told of a change at once, or only when it has lasted. Each subscription has its own.
///
/// No policy delays the first state, nor what follows ``NetworkReachabilityStatus/unknown``, for that is the first thing
/// known. Time counts while the machine is awake (CLOCK_MONOTONIC). When the time is up the kernel is asked once more, so
/// what is told is so at that moment. Only the latest state is kept meanwhile, and no timer runs while nothing is waited for.
///
/// A target that flaps faster than a policy waits never settles. That is not hidden: ``NetworkPath/isFlapping`` is told at
/// once under every policy, to those who hear of the whole path (``NetworkReachabilityInterest/path``).
public enum SettlePolicy: Hashable, Sendable {
    /// Every change, at once.
    case immediate

    /// A change that has held for so long. What is a change is up to the subscription's ``NetworkReachabilityInterest``:
    /// another change begins the wait anew, and a return to what was told last is not told. Zero and less is
    /// ``immediate``.
    case settled(for: Duration)
}

extension SettlePolicy {
    /// How long a change has to last; nil for not at all.
    var duration: Duration? {
        if case .settled(let duration) = self, duration > .zero { duration } else { nil }
    }
}
