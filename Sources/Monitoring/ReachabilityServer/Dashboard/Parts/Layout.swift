import LinuxSupport
import NIOHTTP1
package import ReachabilityLedger

/// The frame of each page: the head, the navigation, the banner, and the drawings.
package struct Layout: Sendable {
    let title: String
    /// The account that decides the colour of the icon.
    let account: LedgerAccount
    /// The path of its entry in the navigation.
    let place: String
    let main: HTML
    private let places: [(path: String, name: String)]
    private var status = HTTPResponseStatus.ok

    /// - Parameter places: The entries of the navigation.
    package init(
        title: String,
        account: LedgerAccount,
        place: String,
        places: [(path: String, name: String)] = Self.places,
        main: HTML
    ) {
        (self.title, self.account, self.place, self.places, self.main) = (title, account, place, places, main)
    }

    /// The page with status 404.
    ///
    /// - Parameter list: A link to the known objects.
    package static func missing(
        _ text: String,
        list: HTML,
        places: [(path: String, name: String)] = Self.places
    ) -> Layout {
        let lead: HTML = """
            It may be forgotten, or the address is mistyped. <a href="/">How it is now</a>, \(list).
            """
        let main = PageParts.hero(mark: "unknown", "\(text).", lead: lead)
        var layout = Layout(title: text, account: .unknown, place: "", places: places, main: main)
        layout.status = .notFound
        return layout
    }

    /// Returns the page as an answer.
    ///
    /// - Parameter notice: A problem of the server that concerns every page.
    package func answer(_ clock: PageClock, host: String, notice: String? = nil) -> WebAnswer {
        let html = html(clock, host: host, notice: notice)
        var answer = WebAnswer(status, type: "text/html; charset=utf-8", Array(html.text.utf8)).unstored
        answer.headers += Self.policy
        return answer
    }

    private func html(_ clock: PageClock, host: String, notice: String?) -> HTML {
        """
        <!doctype html>
        <html lang="en" data-version="\(Asset.version)" data-now="\(Timestamp(real: clock.now).text)">
        <head><meta charset="utf-8"><title>\(title) – \(host)</title>
        <meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
        <link rel="icon" type="image/svg+xml" href="\((account == .up || account == .maintenance ? Asset.goodIcon : Asset.badIcon).path)">
        <link rel="stylesheet" href="\(Asset.style.path)">
        <script src="\(Asset.page.path)" data-worker="\(Asset.worker.path)" defer></script>
        <noscript><meta http-equiv="refresh" content="30"></noscript></head>
        <body><a class="skip" href="#main">Skip to the content</a>\(Self.drawings)
        <header><a class="host" href="/">\(host)</a><nav aria-label="Pages">\(places.map(link))</nav>\
        <span id="live">as of \(clock.time(clock.now))</span></header>
        <div id="banner" role="alert" hidden></div><p id="say" class="unseen" role="status"></p>
        <main id="main" tabindex="-1"><p class="notice" data-part="notice" role="status">\(notice ?? "")</p>\(main)</main>
        </body></html>
        """
    }

    /// The navigation of the service.
    package static let places: [(path: String, name: String)] = [
        ("/", "Now"), ("/outages", "Outages"), ("/availability", "Availability"), ("/network", "Network"),
        ("/service", "Service"),
    ]

    /// Header fields that restrict pages to this server's files, and prevent frames.
    static let policy: [(name: String, value: String)] = [
        (
            "Content-Security-Policy",
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
                + "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
        ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    private func link(_ path: String, _ name: String) -> HTML {
        let current: HTML = path == place ? " aria-current=\"page\"" : ""
        return "<a href=\"\(path)\"\(current)>\(name)</a>"
    }

    /// Patterns of days in calendars.
    private static let days: [HTML] = LedgerAccount.allCases.map { account in
        let paint: HTML = account == .up ? "class=\"s-up\"" : "fill=\"url(#p-\(account.rawValue))\""
        return """
            <pattern id="d-\(account.rawValue)" width="13" height="13" patternUnits="userSpaceOnUse">\
            <rect width="11" height="11" rx="2" \(paint)/></pattern>

            """
    }

    /// Patterns of bars and signs of states.
    private static let drawings: HTML = """
        <svg class="unseen" width="0" height="0" aria-hidden="true"><defs>
        <pattern id="p-degraded" width="8" height="8" patternUnits="userSpaceOnUse">\
        <rect class="f-degraded" width="8" height="8"/><rect class="light" width="8" height="1.6"/></pattern>
        <pattern id="p-us" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">\
        <rect class="f-us" width="6" height="6"/><rect class="shade" width="2.2" height="6"/></pattern>
        <pattern id="p-upstream" width="6" height="6" patternUnits="userSpaceOnUse">\
        <rect class="f-upstream" width="6" height="6"/><circle class="light" cx="3" cy="3" r="1.3"/></pattern>
        <pattern id="p-them" width="7" height="7" patternUnits="userSpaceOnUse">\
        <rect class="f-them" width="7" height="7"/><path class="cross" d="M0 0L7 7M7 0L0 7"/></pattern>
        <pattern id="p-maintenance" width="6" height="6" patternUnits="userSpaceOnUse">\
        <rect class="f-maintenance" width="6" height="6"/><rect class="shade" width="6" height="2"/></pattern>
        <pattern id="p-unknown" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)">\
        <rect class="f-open" width="5" height="5"/><rect class="f-unknown" width="1" height="5"/></pattern>
        <pattern id="p-day" width="13" height="13" patternUnits="userSpaceOnUse">\
        <rect class="f-open" width="11" height="11" rx="2"/></pattern>\(days)
        <symbol id="i-up" viewBox="0 0 16 16"><circle cx="8" cy="8" r="8"/><path class="ink" d="M4.4 8.3l2.5 2.5 4.8-5.2"/></symbol>
        <symbol id="i-degraded" viewBox="0 0 16 16"><circle cx="8" cy="8" r="8"/><path class="ink" d="M4.6 8.2q1.7-2.6 3.4 0t3.4 0"/></symbol>
        <symbol id="i-us" viewBox="0 0 16 16"><rect width="16" height="16" rx="3.5"/><path class="ink" d="M8 4v5M8 11.8v.2"/></symbol>
        <symbol id="i-upstream" viewBox="0 0 16 16"><path d="M8 0l8 8-8 8-8-8z"/><path class="ink" d="M8 4.4v4.2M8 11.2v.2"/></symbol>
        <symbol id="i-them" viewBox="0 0 16 16"><path d="M4.7 0h6.6L16 4.7v6.6L11.3 16H4.7L0 11.3V4.7z"/>\
        <path class="ink" d="M5.3 5.3l5.4 5.4M10.7 5.3l-5.4 5.4"/></symbol>
        <symbol id="i-unknown" viewBox="0 0 16 16"><circle class="ring" cx="8" cy="8" r="7"/>\
        <path class="dash" d="M5.8 6.2a2.2 2.2 0 1 1 3.1 2c-.6.3-.9.7-.9 1.3M8 12v.1"/></symbol>
        <symbol id="i-maintenance" viewBox="0 0 16 16"><circle cx="8" cy="8" r="8"/><path class="ink" d="M6 5v6M10 5v6"/></symbol>
        </defs></svg>
        """
}
