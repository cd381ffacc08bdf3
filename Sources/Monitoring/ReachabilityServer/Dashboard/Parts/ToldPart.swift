package import ReachabilityService

/// Who is told of outages or incidents, and how that goes.
package enum ToldPart {
    /// Nothing where nobody is.
    package static func html(_ notifiers: [NotifierStatus]) -> HTML {
        if notifiers.isEmpty { return "" }
        let rows = notifiers.map { status -> HTML in
            let failure: HTML = status.failure.map { " Last time: \($0)." } ?? ""
            return """
                <dt>\(status.name)</dt><dd>\(status.way): \(Int(status.delivered)) told, \(status.pending) to be told, \
                \(Int(status.refused)) given up.\(failure)</dd>
                """
        }
        return """

            <h2 id="told">Who is told</h2>
            <section class="card" data-part="told" aria-labelledby="told"><dl class="facts">\(rows)</dl></section>
            """
    }
}
