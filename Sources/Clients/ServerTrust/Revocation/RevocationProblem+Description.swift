extension RevocationProblem: CustomStringConvertible {
    /// What is wrong, to be read behind the name of the source.
    public var description: String {
        switch self {
        case .noSource: "the certificate names nobody to ask, and no list is set"
        case .networkAccessDisabled: "network access is disabled"
        case .noFetcher: "nothing is set to fetch with"
        case .wouldWait: "others would have to be asked over the network, and this evaluation does not wait"
        case .timedOut(let limit): "did not answer within \(limit)"
        case .tooLarge(let limit): "has more than \(limit) bytes"
        case .httpStatus(let status): "answered with HTTP status \(status)"
        case .unreachable(let cause): "cannot be reached: \(cause)"
        case .cancelled: "was asked in vain: the evaluation was cancelled"
        case .malformed(let detail): "cannot be read: \(detail)"
        case .refused(let refusal): "does not tell: \(refusal)"
        case .unknownToResponder: "does not know the certificate"
        case .otherCertificate: "is about other certificates"
        case .wrongNonce: "has another nonce than was sent: it may be an old one"
        case .otherIssuer: "is of another authority"
        case .outOfScope: "is not about certificates like this one, or not about all reasons"
        case .deltaList: "only has changes (a delta list), which is not supported"
        case .indirectList: "is about certificates of several authorities (an indirect list), which is not supported"
        case .criticalExtension(let identifier):
            "has the critical extension \(identifier), which is not understood"
        case .badSignature: "is not signed by the key it should be signed by"
        case .signedByStranger: "is signed by neither the issuer nor a responder of the issuer's"
        case .mayNotSignLists: "is signed with a key that is not for lists"
        case .mayNotSignResponses: "is signed by a certificate that is not for OCSP responses"
        case .responderNotValid(let range):
            "is signed by a certificate that is valid only from \(range.lowerBound) to \(range.upperBound)"
        case .responderRevoked: "is signed by a certificate that is revoked"
        case .weakSignature(let algorithm): "is signed with \(algorithm), which is too weak"
        case .unsupportedAlgorithm(let algorithm): "is signed with \(algorithm), which is not supported"
        case .expired(let time): "has expired, it was good until \(time)"
        case .notYetValid(let time): "is not from before \(time): is the clock right?"
        case .tooOld(let time): "is from \(time), too old for one that does not say until when it is good"
        case .withoutNextUpdate: "does not say until when it is good"
        case .custom(let detail): detail
        }
    }
}
