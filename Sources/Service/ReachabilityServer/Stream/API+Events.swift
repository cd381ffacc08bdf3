import LinuxPrimitives
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

extension API {
    /// The events that are kept, the oldest first: the same as in the stream, by the same ids. Who asks again with the id of the last one
    /// gets what came since; who says how long to `wait`, and would get nothing, gets what comes first, or nothing when the time is up.
    ///
    /// - Throws: ``Problem`` where what came after an event is not kept any more, or was of another run of the service.
    func events(_ query: Query, _ request: WebRequest) throws(Problem) -> WebAnswer {
        let (page, time) = (try events(query), try query.wait)
        var answer = try list(page, query, request)
        guard let time, page.items.isEmpty else { return answer }
        let position = query.after.flatMap { StreamPosition($0) }
        answer.wait = WebWait { [feed] done in
            feed.wait(after: position, for: time, done)
        } answer: { [self] in
            let query = Query(request)
            do throws(Problem) {
                let page = try events(query)
                _ = try query.wait
                return try list(page, query, request)
            } catch {
                return error.answer(as: Representation(of: request))
            }
        }
        return answer
    }

    private func events(_ query: Query) throws(Problem) -> Page {
        let limit = try query.limit
        guard let text = query.after else { return page(feed.kept, limit) }
        guard let position = StreamPosition(text) else {
            throw Problem(.badRequest, "after is the id of an event, such as dn2wpjeg7dyu.5, not \"\(text.printable)\"")
        }
        guard let entries = feed.entries(after: position) else {
            throw Problem(
                .gone,
                "what came after \(text.printable) is not kept: ask without after, and for /v1/status"
            )
        }
        return page(entries, limit)
    }

    private func page(_ entries: ArraySlice<EventRing.Entry>, _ limit: Int) -> Page {
        let items = entries.prefix(limit).map { entry in
            let id = StreamPosition(epoch: feed.epoch, number: entry.number).description
            return Item(key: id, object: entry.object, text: entry.line)
        }
        return Page(items, next: entries.count > limit ? items.last?.key : nil)
    }
}

extension MonitoringService.Snapshot {
    /// For example `2026-11-21T08:15:30.123Z outageBegan internet: us.link (noCarrier)`.
    func line(of event: ServiceEvent) -> String {
        let target = event.target.map { " \($0.printable)" } ?? ""
        let what: String? =
            switch event.kind {
            case .intervalClosed(let interval), .intervalOpened(let interval), .intervalRefined(let interval):
                words(interval)
            case .outageBegan(let outage), .outageRefined(let outage): words(outage.deciding(at: now))
            case .outageEnded(let outage):
                "\(words(outage.deciding(at: now))) for \(outage.duration(at: now).people)"
            case .explained: nil
            case .noted(let note): "\(note.author.printable) on \(note.outage)"
            case .actorFound(let actor): actor.process.text
            case .maintenancePlanned(let planned): planned.id
            case .maintenanceCancelled(let id): id
            case .clockStepped(let step): "by \(step.roundedMilliseconds)ms"
            case .resumed(let sleep): "after \(sleep.people)"
            }
        return "\(time(event.instant).text) \(event.kind.name)\(target)\(what.map { ": \($0)" } ?? "")"
    }

    private func words(_ interval: LedgerInterval) -> String {
        "\(interval.state)\(interval.reason.map { " (\($0.printable))" } ?? "")"
    }
}
