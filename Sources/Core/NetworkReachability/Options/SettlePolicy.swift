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

    /// A loss of reachability that so many looks in a row confirm (`failures`), and a gain that so many confirm
    /// (`successes`). The first look is the one that finds it, and the others follow by themselves, one each second; a
    /// look in between that contradicts ends the count. One and less is at once, and so are all other changes, such as
    /// another interface.
    ///
    /// Looks are counted by time and not by the kernel's messages: how many of those one change makes is an accident.
    case hysteresis(failures: Int, successes: Int)
}

extension SettlePolicy {
    /// Whether it never waits.
    var isImmediate: Bool { plan(forLoss: true) == nil && plan(forLoss: false) == nil }

    /// How many more looks a change needs before it is told, and how long to wait before each; nil for at once.
    func plan(forLoss isLoss: Bool) -> (looks: Int, pause: Duration)? {
        switch self {
        case .immediate: return nil
        case .settled(let duration): return duration > .zero ? (1, duration) : nil
        case .hysteresis(let failures, let successes):
            let looks = isLoss ? failures : successes
            return looks > 1 ? (looks - 1, MonitorTiming.hysteresisPause) : nil
        }
    }
}
