import LinuxSupport
package import NIOSSL
package import ReachabilityService
package import ServerTrust

/// Who may ask, and what is shown to them, as the configuration says now. Thread-safe.
package final class Access: Sendable {
    private struct State {
        var settings = AccessSettings()
        var identity: ServerIdentity?
        var rules = AccessRules()
    }

    private let now: @Sendable () -> TrustTime
    private let warn: @Sendable (String) -> Void
    private let state = Locked(State())

    /// - Parameters:
    ///   - now: The time by which certificates are judged.
    ///   - warn: Told of what is used all the same.
    package init(
        now: @escaping @Sendable () -> TrustTime = { .now },
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        (self.now, self.warn) = (now, warn)
    }

    /// What counts for a request that comes now.
    var rules: AccessRules { state.withLock(\.rules) }

    /// Lets a request in that may be answered, and notes by which token.
    ///
    /// - Parameter isPage: Whether a page for people is requested.
    /// - Throws: ``Problem`` with what is wrong.
    package func admit(_ request: inout WebRequest, isPage: Bool) throws(Problem) {
        request.token = try rules.admit(request, isPage: isPage)
    }

    /// What is shown on a connection that begins now; nil where there is no certificate.
    package var tls: NIOSSLContext? { state.withLock(\.identity?.context) }

    /// When the service's certificate ends; nil where there is none.
    var certificateEnd: TrustTime? { state.withLock(\.identity?.certificate.notAfter) }

    /// Reads the files a configuration names, and its addresses; nothing is changed.
    ///
    /// A certificate whose time is over, or has not come, is told and used: the clock may be wrong, and clients judge for themselves.
    ///
    /// - Returns: What uses it from now on, and says whether somebody who could ask before may not be able to any more: then the
    ///   connections are to end that were let in before.
    /// - Throws: What is wrong.
    package func prepare(
        _ configuration: ServiceConfiguration
    ) throws(ConfigurationProblems) -> @Sendable () -> Bool {
        try ListenAddress.check(configuration.listen)
        let settings = configuration.access
        let identity = try ServerIdentity(settings)
        if let fault = identity?.fault(at: now()) { warn(fault) }
        return { [state] in
            state.withLock { state in
                let authorities = (state.identity?.authorities ?? [], identity?.authorities ?? [])
                let isOther = state.settings != settings || authorities.0 != authorities.1
                state = State(
                    settings: settings,
                    identity: identity,
                    rules: AccessRules(hosts: settings.hosts + (identity?.names ?? []), tokens: settings.tokens)
                )
                return isOther
            }
        }
    }

    /// Looks whether a configuration could be used, as far as whoever looks may see its files: those that systemd hands to the service,
    /// and those of another user, may be hidden.
    ///
    /// - Throws: What is wrong.
    package func check(_ configuration: ServiceConfiguration) throws(ConfigurationProblems) {
        let settings = configuration.access
        let files = [settings.certificate, settings.key, settings.clients].compactMap(\.self)
        let isHidden = files.contains { name in
            guard let path = CredentialFile.path(of: name) else { return true }
            do throws(SystemError) { _ = try OwnFile.mode(path) } catch { return error == .accessDenied }
            return !InputFile.isReadable(path)
        }
        if isHidden { try ListenAddress.check(configuration.listen) } else { _ = try prepare(configuration) }
    }
}
