package import LinuxSupport
package import ServerTrust

/// Why a certificate, a list or a request was not made, or not taken: what was tried, what is wrong, and what to do.
package enum FleetCertificateError: Error, Hashable, Sendable {
    /// A file cannot be read.
    case unreadable(path: String, SystemError)
    /// A file cannot be written.
    case unwritable(path: String, SystemError)
    /// What would be written is there already.
    case exists(path: String, advice: String)
    /// A directory that has keys is open to others.
    case openToOthers(path: String, mode: UInt32)
    /// There is no authority in a directory.
    case noAuthority(path: String)
    /// An authority's file is not what it must be.
    case brokenAuthority(path: String, why: String)
    /// Another process works in the directory.
    case busy(path: String)
    /// A request that is not signed.
    case request(RequestFault)
    /// A file is no certificate that can be used here.
    case certificate(path: String, why: String, advice: String)
    /// A file is no key that can be used here.
    case key(path: String, advice: String)
    /// Nothing of that name, number or file was issued.
    case notIssued(String)
    /// What stands for a name is none.
    case name(String, rule: String)
    /// It would be valid for longer than its authority is, or than can be written.
    case tooLong(until: TrustTime, authority: TrustTime)
    /// What is made cannot be encoded or signed, as the library says.
    case unmade(String)
}

/// Why a request is not signed.
package enum RequestFault: Error, Hashable, Sendable {
    case tooLarge(limit: Int)
    /// It has none, or more than one, in PEM.
    case count(Int)
    /// It is none that can be read, as the library says; also one with a key or a signature that is too weak.
    case unreadable(String)
    /// Who made it does not have its key.
    case signature
    /// It has none, or more than one.
    case names(Int)
    case name(String)
    /// The hub's name without the permission to be it.
    case hub
    /// The permission to be the hub, with another name.
    case notHub(String)
}

extension FleetCertificateError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreadable(let path, let error): "cannot read \(path.printable): \(error)"
        case .unwritable(let path, let error): "cannot write \(path.printable): \(error)"
        case .exists(let path, let advice): "\(path.printable) is there already: \(advice)"
        case .openToOthers(let path, let mode):
            "\(path.printable) is open to others (mode \(String(mode, radix: 8))), and has or gets keys: "
                + "`chmod go= \(path.printable)`"
        case .noAuthority(let path):
            "there is no authority in \(path.printable): make one with `reachability fleet ca init`"
        case .brokenAuthority(let path, let why):
            "\(path.printable) cannot be used: \(why): take it from a copy of the directory"
        case .busy(let path): "another `reachability fleet ca` works in \(path.printable): try again"
        case .request(let fault): "the request is not signed: \(fault)"
        case .certificate(let path, let why, let advice): "\(path.printable) is not taken: \(why): \(advice)"
        case .key(let path, let advice): "\(path.printable) is no key that can be used: \(advice)"
        case .notIssued(let text):
            "nothing was issued to \"\(text.printable)\", and it is no serial number or certificate of this authority: "
                + "`reachability fleet ca list` shows those there are"
        case .name(let text, let rule): "\"\(text.printable)\" is no name: take \(rule)"
        case .tooLong(let until, let authority):
            "it would be valid until \(until), and its authority ends at \(authority): ask for less, or make a new authority"
        case .unmade(let text): "it cannot be made: \(text.printable)"
        }
    }
}

extension RequestFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLarge(let limit): "it has more than \(limit / 1024) KiB, which is no request"
        case .count(let count):
            "\(count == 0 ? "there is none" : "there are \(count)") in it: give one `CERTIFICATE REQUEST` in PEM, "
                + "as `reachability fleet enroll` makes it"
        case .unreadable(let text):
            "\(text.shown): keys are on P-256, P-384, P-521 or Ed25519, or RSA with 2048 bits or more; "
                + "`reachability fleet enroll` makes one"
        case .signature: "its signature is not good, so whoever sent it does not have its key"
        case .names(0): "there is no common name in it"
        case .names(let count): "there are \(count) common names in it, and one machine has one"
        case .name(let text): "\"\(text.shown)\" is no name of a machine: \(CertificateRequest.nameRule)"
        case .hub: "\"hub\" hears every machine and may ask it: with --hub, if it is the hub's"
        case .notHub(let name): "it is for \"\(name.shown)\", and --hub is for the name \"hub\""
        }
    }
}
