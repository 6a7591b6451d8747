import { z } from 'zod';
import { checkInvoice } from './check-invoice.mjs';

const cents = z.int();
const text = z.string().min(1).max(200);
const iban = z.string().regex(/^[A-Z]{2}[0-9]{2}[A-Z0-9]{10,30}$/);
const line = z.strictObject({ text: z.string(), quantity: cents, unit_cents: cents, net_cents: cents });

/** Reads answer from the data files, writes go to the tenant's ledger. `subject` is what a fault may name. */
export function erpTools(data) {
  return {
    get_po: read('Shows one purchase order: supplier, currency, tax rate, net amount and lines.', { po: text }, ({ po }) => {
      const found = own(data.purchaseOrders, po);
      return found === undefined ? fault(`there is no purchase order \`${po}\``) : { po, ...found };
    }),
    get_vendor: read('Shows one supplier: name and bank account.', { supplier: text }, ({ supplier }) => {
      const found = own(data.vendors, supplier);
      return found === undefined ? fault(`there is no supplier \`${supplier}\``) : { supplier, ...found };
    }),
    invoice_check: read(
      'Compares an invoice with itself, its purchase order and the supplier. `verdict` is ok or reject, `reasons` says why.',
      {
        supplier: text,
        number: text,
        po: z.string().max(200),
        currency: z.string().length(3),
        lines: z.array(line).max(500),
        net_cents: cents,
        tax_percent: z.int().min(0).max(100),
        tax_cents: cents,
        total_cents: cents,
        iban: z.string().max(40),
      },
      (invoice) => checkInvoice(invoice, own(data.purchaseOrders, invoice.po), own(data.vendors, invoice.supplier)),
    ),
    invoice_post: write(
      'Posts an invoice for payment. Amounts are whole cents. A posting is final; correct one by a credit note in the ERP itself.',
      {
        supplier: text,
        number: text,
        po: text,
        amount_cents: cents.min(1),
        currency: z.string().length(3),
        scan_confidence_percent: z.int().min(0).max(100),
        reference: text.optional(),
        iban: iban.optional(),
      },
      { honoursKey: true, subject: ({ number }) => number },
      ({ supplier }) => (own(data.vendors, supplier) === undefined ? `there is no supplier \`${supplier}\`` : undefined),
    ),
    vendor_change_bank: write(
      'Changes the bank account that a supplier is paid to.',
      { supplier: text, iban },
      { honoursKey: true, subject: ({ supplier }) => supplier },
    ),
    supplier_notify: write(
      'Sends a message to a supplier. It leaves the company and cannot be taken back.',
      { supplier: text, message: z.string().min(1).max(4000) },
      { honoursKey: false, subject: ({ supplier }) => supplier },
    ),
  };
}

export const fault = (message) => ({ fault: message });

function read(description, shape, answer) {
  return { description, input: z.strictObject(shape), readOnly: true, answer };
}

function write(description, shape, { honoursKey, subject }, refuse = () => undefined) {
  return { description, input: z.strictObject(shape), readOnly: false, honoursKey, subject, refuse };
}

const own = (table, key) => (Object.hasOwn(table, key) ? table[key] : undefined);
