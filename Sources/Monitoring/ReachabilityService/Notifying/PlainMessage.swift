import LinuxSupport
import ReachabilityLedger

/// A notification as text for people, with times in the time zone of this machine.
package struct PlainMessage: Hashable, Sendable {
    /// One line.
    package let title: String
    /// One sentence per line.
    package let text: String

    /// Creates a message. Control characters are escaped.
    ///
    /// - Parameter sentences: The lines of the text. Nil lines are omitted.
    package init(title: String, _ sentences: [String?]) {
        self.title = title.printable
        text = sentences.compactMap { $0?.printable }.joined(separator: "\n")
    }

    /// The title and the text.
    var whole: String { text.isEmpty ? title : "\(title)\n\(text)" }

    /// Returns a sentence such as `Since 14:03:07 on 2026-11-28 (CET).`, or for a past time
    /// `From 14:03:07 to 14:07:19 on 2026-11-28 (CET), 4 min 12 s.`
    ///
    /// - Parameters:
    ///   - start: The time since 1970.
    ///   - end: The end; nil for an ongoing time.
    ///   - isEndKnown: False if the time ended at an unknown time.
    package static func times(from start: Duration, to end: Duration?, isEndKnown: Bool, in zone: LocalTime) -> String {
        let begin = zone.text(at: start)
        guard let end else { return "Since \(begin.time) on \(begin.date) (\(begin.zone))." }
        guard isEndKnown else { return "From \(begin.time) on \(begin.date) (\(begin.zone)). The end is not known." }
        let last = zone.text(at: end)
        let length = (end - start).units.replacing(scalars: "\u{a0}", with: " ")
        let first = begin.date == last.date ? begin.time : "\(begin.time) on \(begin.date)"
        return "From \(first) to \(last.time) on \(last.date) (\(last.zone)), \(length)."
    }
}

extension NotificationWriter {
    package func message(_ notification: Notification) -> PlainMessage {
        let (incident, now) = (notification.incident, snapshot)
        let count = incident.affected.count
        let subject = count > 3 ? "\(count) targets" : names(incident)
        let (verb, works) = count == 1 ? ("is", "works") : ("are", "work")
        let state =
            switch incident.state.attribution {
            case .up: "degraded"
            case .unknown: "not observed"
            case .us, .upstream, .them: "down"
            }
        let isPast = notification.event == .ended
        let title =
            switch notification.event {
            case .began: "\(subject) \(verb) \(state)"
            case .refined: "\(subject) \(verb) still \(state), for another reason"
            case .digest: "\(subject) \(verb) still \(state)"
            case .ended where incident.ending == .unknown: "\(subject) \(verb) no longer followed"
            case .ended: "\(subject) \(works) again"
            case .test: "test of the notifications"
            }
        if notification.event == .test {
            return PlainMessage(title: "\(host): \(title)", ["This is a test of the notifications."])
        }
        let sentence = StateDescription.sentence(incident.state, of: incident.affected[0].target, isPast: isPast)
        let reason = incident.reason.map { " (\(StateDescription.words($0)))" } ?? ""
        return PlainMessage(
            title: "\(host): \(title)",
            [
                "\(sentence)\(reason).",
                isPast ? nil : pushMessage(of: incident).map { "Message of the target: \($0)" },
                incident.state.isOutage ? "Responsible: \(StateDescription.name(incident.state.account))." : nil,
                PlainMessage.times(
                    from: now.calendar.wall(at: incident.start),
                    to: incident.end.map { now.calendar.wall(at: $0) },
                    isEndKnown: incident.ending != .unknown,
                    in: zone
                ),
                count > 1 ? "Affected: \(names(incident))." : nil,
                actor(of: incident).map { "Caused by \($0.text)." },
                notification.isDelayed ? "This message is late, because it could not be delivered earlier." : nil,
            ]
        )
    }

    /// Returns the text with which the target of an incident has reported a failure; nil without one.
    private func pushMessage(of incident: Incident) -> String? {
        guard incident.affected.count == 1, let push = snapshot.pushes[incident.affected[0].target]?.last else {
            return nil
        }
        return push.isUp ? nil : push.message
    }
}
