import ReachabilityRetry

extension Session {
    /// Sends a request, and keeps its answer in memory, or in a file, or leaves its body to be read.
    func send(
        _ request: OutgoingRequest,
        _ validator: Validator,
        _ interceptor: (any RequestInterceptor)?,
        into download: PartialDownload? = nil,
        watching upload: UploadWatch? = nil,
        leavesBody: Bool = false
    ) async -> Answer {
        let began = ContinuousClock.now
        let number = monitors.nextNumber()
        monitors.tell(.began(number, request))
        let interceptors = [interceptor, self.interceptor].compactMap { $0 }
        var options = options
        options.adapter = Interceptor(
            adapters: interceptors.map { $0 as any RequestAdapter } + [options.adapter].compactMap { $0 }
        )
        let retriers = interceptors.map { $0 as any RequestRetrier } + [options.retrier].compactMap { $0 }
        options.retrier = retriers.isEmpty ? nil : Interceptor(retriers: retriers)
        if let download { options.resumes = { download.isResumable } }
        options.observer = { [monitors, observer = options.observer] event in
            observer?(event)
            if case .waiting(_, let attempt, _) = event, attempt.reason == .unreachable {
                download?.wait(true)
                upload?.wait()
            }
            monitors.tell(.retry(number, event))
        }
        let reader = AnswerReader(
            request,
            limits,
            validator,
            monitors,
            download,
            upload,
            leavesBody: leavesBody,
            number: number,
            began: began
        )
        let transport = ClientTransport(client: client, settings: clientSettings, policy: policy, options: options)
        let context = SessionContext(session: self, reader: reader)
        var answer = await SessionContext.$current.withValue(context) {
            await transport.send(request, reading: reader, watching: upload)
        }
        answer.metrics.duration = began.duration(to: .now)
        monitors.tell(.finished(number, answer.metrics, answer.error))
        return answer
    }
}
