import NetworkReachabilityTesting

/// A task that reads a sequence and writes down what it reads.
struct Reader<Element: Equatable & Sendable>: Sendable {
    let read = RecordingListener<Element>()
    let ended = RecordingListener<Void>()
    let task: Task<Void, Never>

    init(_ sequence: some AsyncSequence<Element, Never> & Sendable) {
        let (read, ended) = (read, ended)
        task = Task.detached {
            for await element in sequence { read.record(element) }
            ended.record(())
        }
    }
}
