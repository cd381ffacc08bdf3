import LinuxSupport
import NIOHTTP1
import ReachabilityService

// The forms of pages, for clients that may make changes. They work without JavaScript.

extension API {
    /// The routes of the forms.
    var forms: [Route] {
        [
            form("/targets/{name}/check") { query, _ throws(Problem) in
                _ = try check(query)
                return PageLink.target(query["name"])
            },
            form("/targets/{name}/maintenance") { query, fields throws(Problem) in
                try maintain(query["name"], for: fields["for"], by: query.request.author)
                return PageLink.target(query["name"])
            },
            form("/targets/{name}/pause") { query, _ throws(Problem) in
                _ = try setPause(query, service.pause(query["name"]))
                return PageLink.target(query["name"])
            },
            form("/targets/{name}/resume") { query, _ throws(Problem) in
                _ = try setPause(query, service.continueTarget(query["name"]))
                return PageLink.target(query["name"])
            },
            form("/outages/{id}/note") { query, fields throws(Problem) in
                PageLink.outage(try addNote(fields["text"], to: query["id"], by: query.request.author).outage)
            },
            form("/service/notifiers/{name}/test") { query, _ throws(Problem) in
                guard testNotifier(query["name"]) else {
                    throw Problem(.notFound, "there is no notifier \"\(query["name"].printable)\"")
                }
                return "/service"
            },
            // A browser asks for a token only after 401.
            .get("/login") { query throws(Problem) in
                if query.request.token == nil { throw Problem.unauthorized("enter a token as the password") }
                return .seeOther("/", query)
            },
        ]
    }

    /// Returns the route of a form. The handler returns the path of the page that follows.
    private func form(
        _ path: String,
        _ handler: @escaping @Sendable (Query, [String: String]) throws(Problem) -> String
    ) -> Route {
        .change(.POST, path) { query throws(Problem) in
            // Browsers send this field with each form, and ``AccessRules`` has rejected that of another site.
            guard query.request.headers.contains(name: "Origin") else {
                throw Problem(.forbidden, "the forms of pages are for browsers; see /openapi.json for programs")
            }
            let fields = try WebRequest.fields(of: String(decoding: query.request.body, as: UTF8.self)[...])
            return .seeOther(try handler(query, fields), query)
        }
    }

    /// The selectable durations of maintenance.
    private static let lengths = ["30m", "2h", "8h", "1d", "7d"]

    /// Begins maintenance of a target now.
    private func maintain(_ target: String, for length: String?, by author: String) throws(Problem) {
        try checkTarget(target, service.snapshot)
        guard let length, Self.lengths.contains(length), let duration = DurationText.duration(length) else {
            throw Problem(.badRequest, "for must be one of \(Self.lengths.joined(separator: ", "))")
        }
        let now = service.clock.real()
        let maintenance = PlannedMaintenance(
            // Two forms of one second must not replace each other.
            id: "page-\(String(UInt64.random(in: .min ... .max), radix: 36))",
            targets: [target],
            start: now,
            length: duration,
            author: author
        )
        if service.plan(maintenance) == nil {
            throw Problem(.conflict, "too much maintenance is planned; cancel some first")
        }
    }

    /// Returns the forms of a target's page; nil for a client that may make no changes.
    func forms(of target: String, _ settings: ServiceTarget?, isPaused: Bool, _ request: WebRequest) -> HTML? {
        guard request.mayChange, settings?.isEnabled != false else { return nil }
        let path = PageLink.target(target)
        let check: HTML =
            settings?.checks != nil && !isPaused
            ? "<form method=\"post\" action=\"\(path)/check\"><button>Check now</button></form>" : ""
        let options = Self.lengths.map {
            "<option value=\"\($0)\">\(DurationText.duration($0)?.units ?? "")</option>" as HTML
        }
        let pause: HTML = isPaused ? "resume\"><button>Resume</button>" : "pause\"><button>Pause</button>"
        return """
            <div class="forms">\(check)<form method="post" action="\(path)/\(pause)</form>\
            <form method="post" action="\(path)/maintenance"><button>Begin maintenance</button>\
            <select name="for" aria-label="Duration">\(options)</select></form></div>
            """
    }

    /// Returns the form that tests a notifier; nil for a client that may make no changes.
    func form(of notifier: NotifierStatus, _ request: WebRequest) -> HTML? {
        guard request.mayChange, notifier.channel != "heartbeat" else { return nil }
        return """
            <form method="post" action="/service/notifiers/\(notifier.name.percentEncoded)/test"><button>Send a test</button></form>
            """
    }

    /// Returns the forms of an outage's page; nil for a client that may make no changes.
    func forms(of outage: String, _ request: WebRequest) -> HTML? {
        guard request.mayChange else { return nil }
        let path = "\(PageLink.outage(outage))/note"
        let hint = statusPage.withLock { $0?.notePrefix.map { ", or “\($0) …”" } } ?? ""
        return """
            <div class="forms"><form method="post" action="\(path)"><input name="text" required maxlength="\(OutageNote.textLimit)" \
            placeholder="Note\(hint)" aria-label="Note"><button>Add the note</button></form><form method="post" action="\(path)">\
            <input type="hidden" name="text" value="Acknowledged."><button>Acknowledge</button></form></div>
            """
    }
}

extension WebRequest {
    /// A Boolean value that indicates whether the client may make changes.
    var mayChange: Bool { (try? AccessRules.checkAdministrator(self)) != nil }
}

extension WebAnswer {
    /// Returns a redirection to a page.
    fileprivate static func seeOther(_ path: String, _ query: Query) -> WebAnswer {
        var answer = WebAnswer(.seeOther).unstored
        answer.headers.append(("Location", query.request.url(of: path)))
        return answer
    }
}
