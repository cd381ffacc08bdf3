import NIOSSL

extension NIOSSLClientHandler {
    /// The name the handshake asked for and verified, nil within if there was none, nil if it cannot be found.
    ///
    /// NIOSSL keeps it to itself, and async-http-client tells nobody whom a connection is for, so it is read by reflection. A
    /// `Host` header would not do: it may be another host than the one the connection is to, and it comes too late.
    var serverName: String?? {
        guard let connection = Self.child("connection", of: Mirror(reflecting: self)),
            let value = Self.child("expectedHostname", of: Mirror(reflecting: connection)),
            let name = value as? String?
        else { return nil }
        return .some(name)
    }

    private static func child(_ label: String, of mirror: Mirror?) -> Any? {
        guard let mirror else { return nil }
        for child in mirror.children where child.label == label { return child.value }
        return child(label, of: mirror.superclassMirror)
    }
}
