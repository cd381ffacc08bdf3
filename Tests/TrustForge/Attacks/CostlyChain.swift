import ServerTrust
package import X509

/// Chains that are small to send and dear to judge.
package enum CostlyChain {
    /// Authorities of one name that have all signed each other, none of them an anchor: so many ways, and no end. Each key has so
    /// many certificates, each signed with another key.
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

    /// One authority below the other, each with so many certificates of its key: as many ways as there are choices, though few
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

    /// Below an authority with constraints: names times constraints are to be compared, under an anchor.
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

    /// A directory name that is one set of so many attributes. To read it they are sorted; once they were compared each with each.
    package static func wideName(_ count: Int, last: String = "the last") -> DistinguishedName {
        let texts = (1..<count).map { "a\($0)" } + [last]
        let attributes = texts.map { RelativeDistinguishedName.Attribute(type: [2, 5, 4, 3], utf8String: $0) }
        return DistinguishedName([RelativeDistinguishedName(attributes)])
    }

    /// Authorities with such a name, not one of them an anchor: to read them is enough.
    package static func wide(_ count: Int, width: Int) -> [Forged] {
        let name = wideName(width)
        let first = Blueprint.authority("Wide").with(\.subject, name).signed()
        let others = (1..<count).map { index in
            Blueprint.authority("Wide").with(\.subject, name).with(\.key, .p256("wide \(index)")).signed(by: first)
        }
        return [Blueprint.leaf().signed(by: first), first] + others
    }
}
