// What account types and roles are called.
import { words } from '../format.ts'
import type { Role } from '../wire.ts'

/** `account.tenant.read.only.user` as "Read only user". */
export const typeName = (type: string): string => words(type.replace(/^account\.(?:tenant\.)?/, ''))

export const roleName = ({ name, title }: Pick<Role, 'name' | 'title'>): string => title ?? typeName(name)
