/// When a target flaps, told in the simplest way: with every change of the past at hand.
struct FlapModel {
    private var changes: [Duration] = []
    private var isFlapping = false

    mutating func change(at now: Duration) {
        _ = isFlapping(at: now)
        changes.append(now)
        if count(at: now) >= 6 { isFlapping = true }
    }

    mutating func isFlapping(at now: Duration) -> Bool {
        if count(at: now) == 0 { isFlapping = false }
        return isFlapping
    }

    func count(at now: Duration) -> Int { changes.count { now - $0 < .seconds(60) } }
}
