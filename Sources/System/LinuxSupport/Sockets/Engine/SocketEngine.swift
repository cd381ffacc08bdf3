/// Sends datagrams and echoes and makes connections, any number at a time, on one thread with one `epoll(7)`, and says what came
/// back and from whom. Letting go of it ends the thread and cancels what is left.
///
/// A moment is one of CLOCK_MONOTONIC, which stands still while the machine sleeps. The thread keeps the network namespace alive that it
/// entered; a second thread, outside of that namespace, then tells the outcomes. Thread-safe. A task that is cancelled gets its outcome
/// at once, and leaves no descriptor behind.
package final class SocketEngine: Sendable {
    let inbox: EngineInbox

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - enter: moves the calling thread into the network namespace that the sockets are to be opened in; nil for that of the
    ///     process. What it throws, every request ends with.
    /// - Throws: where there is no descriptor, or no thread.
    package init(
        limits: EngineLimits = .init(),
        entering enter: (@Sendable () throws(SocketError) -> Void)? = nil
    ) throws(SocketError) {
        let inbox = try EngineInbox()
        self.inbox = inbox
        var herald: EngineHerald?
        do throws(SystemError) {
            if enter != nil { herald = try EngineHerald() }
            try Thread.detach { [herald] in
                var obstacle: SocketError?
                do throws(SocketError) { try enter?() } catch { obstacle = error }
                EngineLoop(inbox, limits, obstacle: obstacle, herald: herald).run()
                herald?.close()
            }
        } catch {
            herald?.close()
            throw SocketError(.watch, error)
        }
    }

    deinit {
        inbox.close()
    }

    /// Sends a datagram or an echo, and waits for what comes back.
    package func send(_ request: DatagramRequest) async -> DatagramOutcome {
        await perform { .datagram(request, $0) }
    }

    /// Tries to make a connection.
    package func connect(_ request: ConnectRequest) async -> ConnectOutcome {
        await perform { .connect(request, $0) }
    }

    /// Connects, sends something, and reads the answer.
    package func exchange(_ request: StreamRequest) async -> StreamOutcome {
        await perform { .stream(request, $0) }
    }

    /// Begins several jobs at once, for a caller that has no task for each. Who is told of one must not wait.
    ///
    /// - Returns: a number for each, to cancel it by; in their order.
    @discardableResult
    package func begin(_ jobs: [EngineJob]) -> Range<UInt64> {
        let numbers = inbox.nextFlights(jobs.count)
        if !inbox.add(zip(numbers, jobs).map { .start($0, $1) }) { for job in jobs { job.cancel() } }
        return numbers
    }

    /// Ends a job that was begun, if it is not over.
    package func cancel(_ number: UInt64) {
        _ = inbox.add(.cancel(number))
    }

    private func perform<Outcome: Sendable>(
        _ job: (@escaping @Sendable (Outcome) -> Void) -> EngineJob
    ) async -> Outcome {
        let number = inbox.nextFlights().lowerBound
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let job = job { continuation.resume(returning: $0) }
                guard inbox.add(.start(number, job)) else { return job.cancel() }
                // The handler may have run before there was anything to cancel.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }
}

/// How much a `SocketEngine` does at a time; what is beyond waits in line.
package struct EngineLimits: Hashable, Sendable {
    /// Sockets. By default a quarter of what the process may open (RLIMIT_NOFILE), and at most 512.
    package var descriptors: Int
    /// Echoes, which share sockets.
    package var echoes: Int

    package init(descriptors: Int? = nil, echoes: Int = 4096) {
        self.descriptors = max(1, descriptors ?? min(512, OpenFiles.limit / 4))
        self.echoes = min(max(1, echoes), 16_384)
    }
}
