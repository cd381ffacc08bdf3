import ServerTrust

/// What came of one evaluation.
typealias TrustVerdict = Result<ServerTrust, ServerTrustError>
