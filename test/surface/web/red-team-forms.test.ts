import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { nothingHere } from '../../../src/report/page/home-page.ts'
import { answerPage } from '../../../src/surface/web/answer.ts'
import { noChromium, openChromium } from './chromium.ts'

describe.skipIf(noChromium() !== undefined)('a real Chromium', { timeout: 90_000 }, () => {
  test('says where the form comes from that signs out, and no other site where it was', async () => {
    const headers: Record<string, unknown>[] = []
    const server = createServer((request, response) => {
      headers.push({ method: request.method, host: request.headers.host, ...request.headers })
      void answerPage(request, response, 200, nothingHere({ login: 'ada' }))
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const browser = await openChromium()
    try {
      const page = await browser.newPage()
      await page.goto(`http://127.0.0.1:${port}/checks/acme/fleet/x`)
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.waitForURL('**/logout')
      expect(headers.find(({ method }) => method === 'POST')?.origin).toBe(`http://127.0.0.1:${port}`)
      await page.evaluate(
        `document.querySelector('main').insertAdjacentHTML('beforeend', '<a href="http://localhost:${port}/elsewhere">away</a>')`,
      )
      await page.getByRole('link', { name: 'away', exact: true }).click()
      await page.waitForURL('**/elsewhere')
      const away = headers.find(({ host, method }) => host === `localhost:${port}` && method === 'GET')
      expect(away).toBeDefined()
      expect(away?.referer).toBeUndefined()
    } finally {
      await browser.close()
      server.close()
    }
  })
})
