/// What was lost on the way, and is told again.
extension Hub {
    /// A message of a machine was lost.
    package mutating func fallBehind(_ place: FleetPlace) -> [Decision] {
        guard run != nil, devices[place] != nil else { return [] }
        fallBehind(alone: place)
        return [.behind(place)]
    }

    /// What a machine that is behind is asked for; nil for others.
    package func replay(for place: FleetPlace) -> DeviceReplay? {
        guard let device = devices[place], device.mark != nil || device.presence.standing == .unknown else {
            return nil
        }
        let position = device.log.newest.last
        return DeviceReplay(after: position, since: device.toldUntil ?? position.map { _ in .zero }, mark: device.mark)
    }

    /// Whether a machine has told of an event, and of that, nothing is known.
    func misses(_ position: EventPosition?, of place: FleetPlace) -> Bool {
        guard run != nil, let position, let device = devices[place], device.mark == nil else { return false }
        return !device.log.has(position)
    }

    mutating func fallBehind(alone place: FleetPlace) {
        let mark = nextMark()
        devices[place]?.mark = mark
    }

    mutating func allFallBehind() {
        guard let mark = nextMark() else { return }
        for place in devices.keys { devices[place]?.mark = mark }
    }

    /// Another each time something is lost: a broker that was killed may repeat what a machine told at the last mark.
    private mutating func nextMark() -> String? {
        guard let run else { return nil }
        marks += 1
        return "\(run)-\(marks)"
    }
}
