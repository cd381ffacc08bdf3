package import LinuxSupport
package import NetworkDiagnostics
package import NetworkReachability

/// A JSON object with the evidence for a path: the keys of the path, then the keys that explain it.
package struct EvidenceObject {
    package let evidence: NetworkEvidence
    /// The host as given; nil for the network at large.
    package let target: String?
    /// The name of the network namespace; nil for the current one.
    package let namespace: String?

    package init(evidence: NetworkEvidence, target: String?, namespace: String?) {
        (self.evidence, self.target, self.namespace) = (evidence, target, namespace)
    }

    /// Creates the object for the target of the evidence in a namespace.
    package init(_ evidence: NetworkEvidence, from namespace: NetworkNamespace) {
        let name = namespace == .current ? nil : namespace.name
        self.init(evidence: evidence, target: evidence.target, namespace: name)
    }

    /// The object, in schema 1. Keys may be added; none is renamed or removed.
    package var bytes: [UInt8] {
        let line = PathLine(target: target, namespace: namespace, path: evidence.path)
        var object = line.object(at: Timestamp())
        object.add("broken", evidence.brokenStep?.kind.rawValue)
        object.add("remedy", evidence.brokenStep?.remedy)
        object.add("addresses", evidence.candidates.map(Self.object))
        object.add("votes", evidence.quorums.map(Self.object))
        object.add("families", evidence.families.map(Self.object))
        object.add("resolver", evidence.resolver.map(Self.object))
        object.add("rule", evidence.rule.map(Self.object))
        object.add("route", evidence.route.map(Self.object))
        object.add("passedOver", evidence.passedOver.map(Self.object))
        object.add("links", evidence.links.map(Self.object))
        object.add("neighbour", evidence.neighbour.map(Self.object))
        object.add("steps", evidence.steps.map(Self.step))
        object.add("kind", "evidence")
        return object.bytes
    }

    private static func object(_ candidate: NetworkEvidence.Candidate) -> JSONObject {
        var object = JSONObject()
        object.add("address", candidate.address.description)
        object.add("reachable", candidate.isReachable)
        object.add("reason", candidate.reason?.rawValue)
        object.add("decides", candidate.isDeciding)
        return object
    }

    private static func object(_ quorum: NetworkEvidence.Quorum) -> JSONObject {
        var object = JSONObject()
        object.add("family", quorum.isIPv6 ? "IPv6" : "IPv4")
        object.add("addresses", quorum.addresses)
        object.add("reachable", quorum.reachable)
        object.add("needed", quorum.needed)
        return object
    }

    private static func object(_ family: NetworkEvidence.Family) -> JSONObject {
        var object = JSONObject()
        object.add("family", family.isIPv6 ? "IPv6" : "IPv4")
        object.add("reachable", family.isReachable)
        object.add("reason", family.reason?.rawValue)
        return object
    }

    private static func object(_ resolver: NetworkEvidence.Resolver) -> JSONObject {
        var object = JSONObject()
        object.add("sources", resolver.sources)
        object.add("hostsFile", resolver.isInHostsFile)
        object.add("file", resolver.file)
        object.add("stub", resolver.stub?.description)
        object.add(
            "servers",
            resolver.servers.map { server in
                var object = JSONObject()
                object.add("address", server.address.description)
                object.add("interface", server.interface)
                object.add("reason", server.reason?.rawValue)
                object.add("answer", server.answer)
                return object
            }
        )
        return object
    }

    private static func object(_ rule: NetworkEvidence.Rule) -> JSONObject {
        var object = JSONObject()
        object.add("priority", rule.priority)
        object.add("selector", rule.selector)
        object.add("action", rule.action)
        object.add("table", optional: rule.table)
        object.add("suppressPrefixLength", optional: rule.suppressedLength)
        return object
    }

    private static func object(_ route: NetworkEvidence.Route) -> JSONObject {
        var object = JSONObject()
        object.add("type", route.type)
        object.add("prefix", route.prefix)
        object.add("table", optional: route.table)
        object.add("metric", route.metric)
        object.add("nextHopObject", optional: route.nextHopObject)
        object.add(
            "legs",
            route.nextHops.map { hop in
                var object = JSONObject()
                object.add("interface", hop.interface)
                object.add("gateway", hop.gateway?.description)
                return object
            }
        )
        object.add("secondsLeft", optional: route.lifetime?.components.seconds)
        return object
    }

    private static func object(_ passedOver: NetworkEvidence.PassedOver) -> JSONObject {
        var object = JSONObject()
        object.add("route", Self.object(passedOver.route))
        object.add("cause", passedOver.cause.rawValue)
        object.add("rule", passedOver.rule.map(Self.object))
        object.add("ruleForOthers", passedOver.ruleForOthers.map(Self.object))
        return object
    }

    private static func object(_ link: NetworkEvidence.Link) -> JSONObject {
        var object = JSONObject()
        object.add("interface", link.interface.name)
        object.add("index", link.interface.index)
        object.add("interfaceType", link.interface.type.rawValue)
        object.add("up", link.isUp)
        object.add("carrier", link.hasCarrier)
        object.add("dormant", link.isDormant)
        object.add("tunnelRemote", link.tunnelRemote?.description)
        return object
    }

    private static func object(_ neighbour: NetworkEvidence.Neighbour) -> JSONObject {
        var object = JSONObject()
        object.add("address", neighbour.address.description)
        object.add("interface", neighbour.interface)
        object.add("state", neighbour.state.rawValue)
        object.add("hardwareAddress", neighbour.hardwareAddress)
        object.add("isGateway", neighbour.isGateway)
        return object
    }

    package static func step(_ step: NetworkEvidence.Step) -> JSONObject {
        self.step(step.kind.rawValue, step.state.rawValue, step.summary)
    }

    package static func step(_ kind: String, _ state: String, _ summary: String) -> JSONObject {
        var object = JSONObject()
        object.add("kind", kind)
        object.add("state", state)
        object.add("summary", summary)
        return object
    }
}
