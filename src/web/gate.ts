import type { IncomingMessage } from 'node:http'
import type { Visibility } from '../fleet/model/visibility.ts'
import { isLoopbackHost } from '../process/loopback.ts'

/** A person who may view pages. */
export interface Visitor {
  /** Absent where nobody signs in. */
  readonly login?: string
  /**
   * GitHub's word on whether they may read the repository. `made`: what is read was made for the repository with this id,
   * whoever has its name now, and for those who could see it then, however many can now.
   */
  mayRead(owner: string, repo: string, made: MadeFor | undefined): Promise<boolean>
  /** Whether the person maintains or administers the repository according to GitHub, and may read what was made for it. */
  mayMaintain(owner: string, repo: string, made: MadeFor | undefined): Promise<boolean>
}

/** Whom a page was made for. */
interface MadeFor {
  readonly repositoryId?: number
  readonly visibility?: Visibility
}

/** Decides who may view pages. */
export interface PageAccess {
  /** `sign-in`: first they must say who they are; `closed`: there are no pages for anybody from there. */
  admit(request: IncomingMessage): Promise<Visitor | 'sign-in' | 'closed'>
}

/** What a proxy adds: whoever comes through one is not on this machine. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via']

/**
 * Admits only people on this machine, for a process that listens on loopback. A website could have its own name resolve
 * to this machine (DNS rebinding), so the requested host name must be local too.
 */
export const loopbackGate: PageAccess = {
  admit: async request => {
    const { host = '', ...headers } = request.headers
    const isHere = isLoopbackHost(host.replace(/:\d{1,5}$/, '')) && isLoopbackHost(request.socket.remoteAddress ?? '')
    return isHere && !FORWARDED.some(name => name in headers) ? EVERYTHING : 'closed'
  },
}

/** Admits no one: pages are switched off. */
export const closedGate: PageAccess = { admit: async () => 'closed' }

const EVERYTHING: Visitor = { mayRead: async () => true, mayMaintain: async () => true }
