import LinuxSupport
import SwiftASN1
import X509

/// Every name below an authority is one it may certify (nameConstraints, RFC 5280, 4.2.1.10 and 6.1.4 (g)).
///
/// swift-certificates refuses chains with constraints on directory names, which real ones have; here they are compared. A constraint
/// of a form that is not known here matters only where a name of that form is below it, and refuses that.
struct NameConstraintsPolicy: TrustPolicy {
    let budget: EvaluationBudget

    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure) {
        for (index, authority) in chain.enumerated().dropFirst() {
            guard let constraints = try authority.nameConstraints() else { continue }
            let count = constraints.permittedSubtrees.count + constraints.excludedSubtrees.count
            // To read them is work too.
            try budget.spendComparisons(count)
            let excluded = constraints.excludedSubtrees.map(NameConstraint.init)
            let permitted = constraints.permittedSubtrees.map(NameConstraint.init)
            for (below, certificate) in chain[..<index].enumerated() where below == 0 || !certificate.isSelfIssued {
                let names = try ConstrainedName.all(of: certificate)
                let (work, isTooMuch) = names.count.multipliedReportingOverflow(by: count)
                try budget.spendComparisons(isTooMuch ? .max : work)
                let refused = names.first {
                    !Self.isAllowed(ConstrainedName($0), permitted: permitted, excluded: excluded)
                }
                guard let refused else { continue }
                throw .nameConstraints(
                    subject: certificate.description,
                    name: Self.describe(refused),
                    constrainedBy: authority.description
                )
            }
        }
    }

    private static func isAllowed(
        _ name: ConstrainedName,
        permitted: [NameConstraint],
        excluded: [NameConstraint]
    ) -> Bool {
        guard excluded.allSatisfy({ $0.containment(of: name) ?? .outside == .outside }) else { return false }
        let matching = permitted.lazy.compactMap { $0.containment(of: name) }
        return matching.isEmpty || matching.contains(.inside)
    }

    private static func describe(_ name: GeneralName) -> String {
        switch name {
        case .dnsName(let text), .rfc822Name(let text), .uniformResourceIdentifier(let text): text
        case .directoryName(let name): name.readable
        case .ipAddress(let octets):
            "address \(WireAddress(bytes: octets.bytes)?.description ?? "of \(octets.bytes.count) bytes")"
        default: "of a form that is not supported"
        }
    }
}
