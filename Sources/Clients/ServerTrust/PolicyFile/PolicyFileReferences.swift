import LinuxSupport

/// Reads the files that a policy file names; their paths are relative to its directory.
struct PolicyFileReferences {
    /// Without a slash at its end; empty for the current one.
    let directory: String

    /// Every certificate of the files at the key `files`.
    func certificates(of object: JSONObjectReader) throws(PolicyFileFault) -> [TrustCertificate] {
        _ = try object.required("files")
        return try certificates(object.strings("files") ?? [])
    }

    func certificates(_ files: [(text: String, place: TextPlace)]) throws(PolicyFileFault) -> [TrustCertificate] {
        var certificates: [TrustCertificate] = []
        for (file, place) in files {
            do {
                certificates += try CertificateFiles.read(path(file))
            } catch {
                throw Self.fault(error, file, place)
            }
        }
        return certificates
    }

    /// The keys of these: certificates, or keys by themselves (`PUBLIC KEY`, RFC 7468, 13).
    func publicKeys(of object: JSONObjectReader) throws(PolicyFileFault) -> [ServerPublicKey] {
        _ = try object.required("files")
        var keys: [ServerPublicKey] = []
        for (file, place) in try object.strings("files") ?? [] {
            let own: [[UInt8]?]
            do {
                own = PEMBlocks.documents(in: try InputFile.read(path(file), limit: 1 << 20), type: "PUBLIC KEY")
            } catch {
                throw Self.fault(.file(path: path(file), cause: error.description), file, place)
            }
            if own.isEmpty { keys += try certificates([(file, place)]).map(\.publicKey) }
            for key in own {
                guard let key else { throw PolicyFileFault("a key in \(file) cannot be decoded", at: place) }
                keys.append(ServerPublicKey(subjectPublicKeyInfo: key))
            }
        }
        return keys
    }

    func lists(_ files: [(text: String, place: TextPlace)]) throws(PolicyFileFault) -> [RevocationList] {
        var lists: [RevocationList] = []
        for (file, place) in files {
            do {
                lists += try RevocationList.read(path(file))
            } catch {
                var isUnreadable = false
                if case .unreachable = error { isUnreadable = true }
                let problem = "cannot read the revocation list \(path(file)): \(error)"
                throw PolicyFileFault(problem, at: place, isUnreadable: isUnreadable)
            }
        }
        return lists
    }

    private func path(_ file: String) -> String {
        file.hasPrefix("/") || directory.isEmpty ? file : "\(directory)/\(file)"
    }

    private static func fault(_ error: TrustCertificateError, _ file: String, _ place: TextPlace) -> PolicyFileFault {
        if case .file = error { return PolicyFileFault(error.description, at: place, isUnreadable: true) }
        return PolicyFileFault("\(file) has no certificate that can be used: \(error)", at: place)
    }
}
