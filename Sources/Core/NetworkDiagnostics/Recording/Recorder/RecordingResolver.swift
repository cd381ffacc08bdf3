import Dispatch
import LinuxPrimitives
import Netlink
import NetworkReachability

/// A name service whose answers are written down. They come on the monitor's queue, so that everything has one order.
struct RecordingResolver: HostResolver {
    private let resolver: any HostResolver
    private let recorder: Recorder

    init(_ resolver: any HostResolver, _ recorder: Recorder) {
        self.resolver = resolver
        self.recorder = recorder
    }

    func localAddresses(of name: String) -> [NameLookup.Address] {
        let addresses = resolver.localAddresses(of: name)
        var encoder = ByteEncoder()
        encoder.add(addresses)
        recorder.note(RecordedQuestion(.localAddresses, Array(name.utf8)), encoder.bytes)
        return addresses
    }

    func resolve(
        _ name: String,
        _ completion: @escaping @Sendable (Result<[NameLookup.Address], NameLookup.Failure>) -> Void
    ) {
        let number = recorder.makeNumber()
        var encoder = ByteEncoder()
        encoder.add(number: number)
        recorder.note(RecordedQuestion(.resolve, Array(name.utf8)), encoder.bytes)
        resolver.resolve(name) { [recorder] result in
            let finish: @Sendable () -> Void = {
                recorder.turn(.resolved(number, RecordedNames(result)))
                completion(result)
            }
            if let queue = recorder.queue.withLock({ $0 }) { queue.async(execute: finish) } else { finish() }
        }
    }

    func watchConfiguration(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation? {
        let watch = resolver.watchConfiguration(on: queue) { [recorder] in
            recorder.turn(.namesChanged)
            changed()
        }
        recorder.note(RecordedQuestion(.watchesNames), watch != nil)
        return watch
    }
}
