/// What is known about one certificate.
package enum RevocationFinding: Hashable, Sendable {
    case good
    case revoked(RevocationRecord)
    case unknown([RevocationObstacle])

    var isRevoked: Bool {
        guard case .revoked = self else { return false }
        return true
    }
}
