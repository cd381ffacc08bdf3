extension Poll {
    /// Everybody who has a vote, in the order of the votes.
    var everybody: [Inquiry] {
        (first.addresses + (second?.addresses ?? [])).map(inquiry)
    }

    /// Counts votes that are known already, in the order in which they would be asked for.
    mutating func decide(by verdicts: [IPAddress: Verdict]) {
        while true {
            var inquiries: [Inquiry] = []
            addNext(to: &inquiries)
            if inquiries.isEmpty { return }
            var known = inquiries.compactMap { verdicts[$0.address] }[...]
            guard known.count == inquiries.count else { return }
            count(&known)
        }
    }

    /// How the families vote on the network at large; none for a host.
    func tallies(by verdicts: [IPAddress: Verdict]) -> [NetworkEvidence.Tally] {
        guard let second else { return [] }
        return zip([first, second], [false, true]).compactMap { vote, isIPv6 in
            guard !vote.addresses.isEmpty else { return nil }
            return NetworkEvidence.Tally(
                isIPv6: isIPv6,
                addresses: vote.addresses.count,
                reachable: vote.addresses.count { verdicts[$0]?.isSatisfied ?? false },
                needed: vote.needed
            )
        }
    }
}
