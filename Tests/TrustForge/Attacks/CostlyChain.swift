import ServerTrust
package import X509

/// Chains that are small but expensive to evaluate.
package enum CostlyChain {
    /// Returns authorities with the same name that have signed each other. None of them is an anchor, so there are
    /// many paths without an end. Each key has several certificates, each signed with another key.
    package static func mesh(keys: Int, copies: Int) -> [Forged] {
        let name = Blueprint.authority("Mesh").signed()
        let authorities = (0..<keys).flatMap { key in
            (0..<copies).map { copy in
                Blueprint.authority("Mesh").with(\.key, .p256("mesh \(key)"))
                    .signed(by: name.inHands(of: .p256("mesh \((key + 1 + copy) % keys)")))
            }
        }
        return [Blueprint.leaf().signed(by: authorities[0])] + authorities
    }

    /// Returns authorities in layers. Each has several certificates for its key, so there are many paths but few
    /// signatures.
    package static func layers(_ count: Int, copies: Int) -> [Forged] {
        let layers = (0..<count).map { Blueprint.authority("Layer \($0)").with(\.key, .p256("layer \($0)")) }
        let authorities = layers.indices.flatMap { index in
            let issuer = (index + 1 < count ? layers[index + 1] : layers[index]).signed()
            return (0..<copies).map { copy in
                layers[index].with(\.ends, World.ends.advanced(by: .seconds(copy))).signed(by: issuer)
            }
        }
        return [Blueprint.leaf().signed(by: authorities[0])] + authorities
    }

    /// Returns a chain with name constraints under an anchor. The number of comparisons is the product of names and
    /// constraints.
    package static func constrained(
        names: [GeneralName],
        permitted: [GeneralName] = [],
        excluded: [GeneralName] = []
    ) -> [Forged] {
        let authority = Blueprint.authority("Constrained")
            .with(\.constraints, NameConstraints(permittedSubtrees: permitted, excludedSubtrees: excluded))
            .signed(by: World.root)
        return [Blueprint.leaf(names: [.dnsName(World.host)] + names).signed(by: authority), authority]
    }

    /// Returns a directory name with one set of many attributes. Parsing sorts them. An earlier version compared each
    /// attribute with each other one.
    package static func wideName(_ count: Int, last: String = "the last") -> DistinguishedName {
        let texts = (1..<count).map { "a\($0)" } + [last]
        let attributes = texts.map { RelativeDistinguishedName.Attribute(type: [2, 5, 4, 3], utf8String: $0) }
        return DistinguishedName([RelativeDistinguishedName(attributes)])
    }

    /// Returns authorities with such a name. None of them is an anchor, because only their parsing is tested.
    package static func wide(_ count: Int, width: Int) -> [Forged] {
        let name = wideName(width)
        let first = Blueprint.authority("Wide").with(\.subject, name).signed()
        let others = (1..<count).map { index in
            Blueprint.authority("Wide").with(\.subject, name).with(\.key, .p256("wide \(index)")).signed(by: first)
        }
        return [Blueprint.leaf().signed(by: first), first] + others
    }
}
