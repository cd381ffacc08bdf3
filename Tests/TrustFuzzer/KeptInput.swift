import Glibc

/// The input that is being judged, in a file, so that it is still there after a crash.
struct KeptInput: ~Copyable {
    private let descriptor: Int32

    init(_ path: String) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { fatalError("\(path) cannot be written: error \(errno)") }
    }

    func keep(_ input: [UInt8]) {
        guard pwrite(descriptor, input, input.count, 0) == input.count, ftruncate(descriptor, input.count) == 0 else {
            fatalError("the input cannot be kept: error \(errno)")
        }
    }

    deinit {
        close(descriptor)
    }
}
