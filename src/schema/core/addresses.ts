const BYTE = /^(?:25[0-5]|2[0-4]\d|1?\d?\d)$/
const MAX_LENGTH = 60

const isIPv4 = (text: string): boolean => {
  const parts = text.split('.')
  return parts.length === 4 && parts.every(part => BYTE.test(part))
}

function isIPv6(text: string): boolean {
  const [head = '', tail, more] = text.split('::')
  if (more !== undefined) return false
  const groups = [head, tail ?? ''].flatMap(part => (part === '' ? [] : part.split(':')))
  const last = groups.at(-1)
  const isMixed = last?.includes('.') === true
  if (isMixed && !isIPv4(last!)) return false
  const count = groups.length + (isMixed ? 1 : 0)
  const hex = isMixed ? groups.slice(0, -1) : groups
  return hex.every(group => /^[\da-fA-F]{1,4}$/.test(group)) && (tail === undefined ? count === 8 : count < 8)
}

/** Whether a text is an IP address without a zone (k8s.io/utils/net, ParseIPSloppy; leading zeros are left to the API server). */
export const isIP = (text: string): boolean =>
  text.length <= MAX_LENGTH &&
  (isIPv4(text.replaceAll(/(^|\.)0+(?=\d)/g, '$1')) || (text.includes(':') && isIPv6(text)))

/** Whether a text is an IP address with a prefix length. */
export function isCidr(text: string): boolean {
  const [address = '', bits = '', more] = text.length > MAX_LENGTH ? [] : text.split('/')
  if (more !== undefined || !/^\d{1,3}$/.test(bits) || !isIP(address)) return false
  return Number(bits) <= (address.includes(':') ? 128 : 32)
}
