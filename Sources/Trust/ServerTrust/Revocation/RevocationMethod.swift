/// One of the two ways to learn of revocation.
enum RevocationMethod {
    case ocsp, lists
}

extension RevocationFlags {
    /// Which may be used, the preferred one first.
    var methods: [RevocationMethod] {
        let any: [RevocationMethod] = contains(.preferCRL) ? [.lists, .ocsp] : [.ocsp, .lists]
        // With neither flag nothing would ever be known: who sets only how to ask means any.
        guard !isDisjoint(with: .any) else { return any }
        return any.filter { contains($0 == .ocsp ? .ocsp : .crl) }
    }
}
