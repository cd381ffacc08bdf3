import LinuxSupport
import ReachabilityFleet
import ReachabilityLedger
import ReachabilityServer

extension Hub {
    /// A machine as it is told. Times are by the hub's clock.
    func item(of device: HubDevice) -> Item {
        let presence = device.presence
        var object = JSONObject()
        object.add("schema", 1)
        object.add("site", device.place.site)
        object.add("device", device.place.device)
        object.add("standing", presence.standing.rawValue)
        object.add("path", presence.standing == .online ? presence.report?.path : nil)
        object.add("heard", presence.heard.map { Timestamp(real: $0).text })
        object.add("boot", presence.report?.boot)
        object.add("session", presence.session)
        object.add("clockOffsetMilliseconds", optional: device.clock.offset?.milliseconds)
        object.add("event", device.log.newest.last?.description)
        object.add("silence", device.gap.map { self.object(of: $0, verdict(of: device.place) ?? .unexplained) })
        object.add("incident", book.open(of: device.place)?.id)
        object.add("disputed", device.disputed.map { Timestamp(real: $0).text })
        object.add("refused", device.refused)
        object.add("kind", "device")
        return Item(key: device.place.description, object: object, text: line(of: device))
    }

    /// For example `north/door-7: silent since 2026-11-21T08:15:30.123Z, unexplained`.
    private func line(of device: HubDevice) -> String {
        let presence = device.presence
        var words = "\(device.place): \(presence.standing.rawValue)"
        if presence.standing != .online, let gap = device.gap, gap.until == nil {
            let verdict = verdict(of: device.place) ?? .unexplained
            words += " since \(Timestamp(real: gap.since).text), \(verdict.text)"
        } else if let heard = presence.heard {
            words += ", heard \(Timestamp(real: heard).text)"
        }
        return words
    }

    private func object(of gap: DeviceGap, _ verdict: SilenceVerdict) -> JSONObject {
        var object = gap.span
        object.add(verdict)
        return object
    }
}

extension DeviceGap {
    /// When it was: ``since`` is when the machine was last heard of.
    var span: JSONObject {
        var object = JSONObject()
        object.add("since", Timestamp(real: since))
        object.add("noticed", Timestamp(real: noticed))
        object.add("until", until.map { Timestamp(real: $0).text })
        return object
    }
}

extension JSONObject {
    /// Why a machine was silent.
    mutating func add(_ verdict: SilenceVerdict) {
        add("verdict", verdict.word)
        add("attribution", verdict.attribution?.rawValue)
        add("cause", verdict.cause?.rawValue)
        if case .planned(let reason) = verdict { add("reason", reason) }
    }
}

extension SilenceVerdict {
    /// In a few words.
    var text: String {
        switch self {
        case .planned(let reason): "planned\(reason.map { ": \($0.printable)" } ?? "")"
        case .outage(let outage):
            "\(outage.attribution.rawValue)\(outage.cause.map { ".\($0.rawValue.printable)" } ?? "")"
        default: word
        }
    }
}
