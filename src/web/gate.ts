import type { IncomingMessage } from 'node:http'
import type { Visibility } from '../fleet/model/visibility.ts'
import { isLoopbackHost } from '../process/loopback.ts'

/** Someone who looks at pages. */
export interface Visitor {
  /** Absent where nobody signs in. */
  readonly login?: string
  /**
   * GitHub's word on whether they may read the repository. `made`: what is read was made for the repository with this id,
   * whoever has its name now, and for those who could see it then, however many can now.
   */
  mayRead(owner: string, repo: string, made: MadeFor | undefined): Promise<boolean>
}

/** Whom a page was made for. */
interface MadeFor {
  readonly repositoryId?: number
  readonly visibility?: Visibility
}

/** Who may look at pages at all. */
export interface PageAccess {
  /** `sign-in`: first they must say who they are; `closed`: there are no pages for anybody from there. */
  admit(request: IncomingMessage): Promise<Visitor | 'sign-in' | 'closed'>
}

/** What a proxy adds: whoever comes through one is not on this machine. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via']

/**
 * Lets people of this machine in, and nobody else: for a process that listens on loopback only. A page of the web could
 * have its own name resolved to this machine (DNS rebinding), so the name that was asked for must be the machine's own.
 */
export const loopbackGate: PageAccess = {
  admit: async request => {
    const { host = '', ...headers } = request.headers
    const isHere = isLoopbackHost(host.replace(/:\d{1,5}$/, '')) && isLoopbackHost(request.socket.remoteAddress ?? '')
    return isHere && !FORWARDED.some(name => name in headers) ? EVERYTHING : 'closed'
  },
}

/** No pages at all. */
export const closedGate: PageAccess = { admit: async () => 'closed' }

const EVERYTHING: Visitor = { mayRead: async () => true }
