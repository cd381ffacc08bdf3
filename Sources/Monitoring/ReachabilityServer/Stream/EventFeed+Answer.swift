import LinuxSupport
import NIOHTTP1

extension EventFeed {
    /// Every event from now on, or from where the client was.
    ///
    /// - Throws: ``Problem`` for a parameter that nobody asked about.
    package func answer(
        _ query: Query,
        _ request: WebRequest,
        snapshot: @escaping @Sendable () -> Snapshot
    ) throws(Problem) -> WebAnswer {
        let text = request.headers.first(name: "Last-Event-ID") ?? query.text("after")
        try query.checkNames()
        // A place that is none lies before a gap.
        let position = text.map { StreamPosition($0) ?? StreamPosition(epoch: "", number: 0) }
        var answer = WebAnswer(type: "text/event-stream").unstored
        // nginx keeps an answer back until it is whole, unless it is told not to.
        answer.headers.append(("X-Accel-Buffering", "no"))
        answer.stream = { [self] stream in join(stream, after: position, snapshot: snapshot) }
        return answer
    }

    /// The events that are kept, the oldest first: the same as in the stream, by the same ids. Who asks again with the id of the last one
    /// gets what came since; who says how long to `wait`, and would get nothing, gets what comes first, or nothing when the time is up.
    ///
    /// - Throws: ``Problem`` where what came after an event is not kept any more, or was of another run of the service.
    package func events(_ query: Query, _ request: WebRequest) throws(Problem) -> WebAnswer {
        // What is mistyped is told before what is gone.
        let time = try query.wait
        let page = try events(query)
        var answer = try WebAnswer.list(page, query, request)
        guard let time, page.items.isEmpty else { return answer }
        let position = query.after.flatMap { StreamPosition($0) }
        answer.wait = WebWait { [self] done in
            self.wait(after: position, for: time, done)
        } answer: { [self] in
            let query = Query(request)
            do throws(Problem) {
                _ = try query.wait
                let page = try events(query)
                return try .list(page, query, request)
            } catch {
                return error.answer(as: Representation(of: request))
            }
        }
        return answer
    }

    private func events(_ query: Query) throws(Problem) -> Page {
        let limit = try query.limit
        guard let text = query.after else { return page(kept, limit) }
        guard let position = StreamPosition(text) else {
            throw Problem(.badRequest, "after is the id of an event, such as dn2wpjeg7dyu.5, not \"\(text.printable)\"")
        }
        guard let entries = self.entries(after: position) else {
            throw Problem(
                .gone,
                "what came after \(text.printable) is not kept: ask without after, and for /v1/status"
            )
        }
        return page(entries, limit)
    }

    private func page(_ entries: ArraySlice<EventRing.Entry>, _ limit: Int) -> Page {
        let items = entries.prefix(limit).map { entry in
            let id = StreamPosition(epoch: epoch, number: entry.number).description
            return Item(key: id, object: entry.object, text: entry.line)
        }
        return Page(items, next: entries.count > limit ? items.last?.key : nil)
    }
}
