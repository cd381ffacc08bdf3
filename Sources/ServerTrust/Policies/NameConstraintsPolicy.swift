import SwiftASN1
import X509

/// Every name below an authority is one it may certify (nameConstraints, RFC 5280, 4.2.1.10 and 6.1.4 (g)).
///
/// swift-certificates refuses chains with constraints on directory names, which real ones have; here they are compared. A constraint
/// of a form that is not known here matters only where a name of that form is below it, and refuses that.
struct NameConstraintsPolicy: TrustPolicy {
    let maximumComparisons: Int

    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure) {
        var comparisons = 0
        for (index, authority) in chain.enumerated().dropFirst() {
            guard let constraints = try authority.nameConstraints() else { continue }
            for (below, certificate) in chain[..<index].enumerated() where below == 0 || !certificate.isSelfIssued {
                let names = try names(of: certificate)
                comparisons +=
                    names.count
                    * (constraints.permittedSubtrees.count + constraints.excludedSubtrees.count)
                guard comparisons <= maximumComparisons else {
                    throw .tooComplex("\(authority) has very many name constraints")
                }
                for name in names where !isAllowed(name, by: constraints) {
                    throw .nameConstraints(
                        subject: certificate.description,
                        name: describe(name),
                        constrainedBy: authority.description
                    )
                }
            }
        }
    }

    private func names(of certificate: TrustCertificate) throws(TrustFailure) -> [GeneralName] {
        var names = try certificate.readableAlternativeNames()
        if !certificate.x509.subject.isEmpty { names.append(.directoryName(certificate.x509.subject)) }
        return names
    }

    private func isAllowed(_ name: GeneralName, by constraints: NameConstraints) -> Bool {
        for excluded in constraints.excludedSubtrees where NameConstraint(excluded).mayHold(name) { return false }
        let permitted = constraints.permittedSubtrees.map(NameConstraint.init).filter { $0.concerns(name) }
        return permitted.isEmpty || permitted.contains { $0.holds(name) }
    }

    private func describe(_ name: GeneralName) -> String {
        switch name {
        case .dnsName(let text), .rfc822Name(let text), .uniformResourceIdentifier(let text): text
        case .directoryName(let name): name.description
        case .ipAddress(let bytes): "address \(bytes.bytes.map(String.init).joined(separator: "."))"
        default: "of a form that is not supported"
        }
    }
}
