/** What kstatus says of an object: `Unknown` where its status is not of the form that its kind has. */
type Status = 'Current' | 'InProgress' | 'Failed' | 'Terminating' | 'NotFound' | 'Unknown'

export interface ResourceStatus {
  readonly status: Status
  readonly message: string
  /** Of what is in progress or has failed: the reason of the condition that kstatus derives. */
  readonly reason?: string
}

export const current = (message: string): ResourceStatus => ({ status: 'Current', message })

export const inProgress = (reason: string, message: string): ResourceStatus => ({
  status: 'InProgress',
  message,
  reason,
})

export const failed = (reason: string, message: string): ResourceStatus => ({ status: 'Failed', message, reason })

export const unknown = (message: string): ResourceStatus => ({ status: 'Unknown', message })
