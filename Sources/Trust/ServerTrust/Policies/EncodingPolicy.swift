/// Every certificate is encoded as the standards say, the anchor too: what different readers read differently is no ground for trust.
/// What cannot be read at all is not even here.
struct EncodingPolicy: TrustPolicy {
    func check(_ chain: [TrustCertificate], at time: TrustTime) throws(TrustFailure) {
        for certificate in chain {
            guard let fault = certificate.fields.encodingFault else { continue }
            throw .nonconformingEncoding(subject: certificate.description, detail: fault)
        }
    }
}
