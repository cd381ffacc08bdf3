import NIOCore
import NIOSSL

/// The key of somebody who has none: signs with nothing, and deciphers nothing.
struct KeylessSigner: NIOSSLCustomPrivateKey, Hashable {
    let signatureAlgorithms: [SignatureAlgorithm]

    func sign(channel: any Channel, algorithm: SignatureAlgorithm, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        channel.eventLoop.makeSucceededFuture(ByteBuffer(repeating: 0x5a, count: 71))
    }

    func decrypt(channel: any Channel, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        channel.eventLoop.makeSucceededFuture(ByteBuffer(repeating: 0x5a, count: 256))
    }
}
